import { describe, expect, it } from 'vitest'
import { WatchedWorld } from '../support/watched-world.js'
import type { Work } from '../support/scheduler-world.js'

const MINUTE = 60_000
const sleeps: Work = (_, { sleep }) => sleep(10 * MINUTE)
const everyHour = { kind: 'every', intervalMs: 60 * MINUTE, overlap: 'skip', missed: 'runOnce' } as const

describe('due tasks whose handler is not loaded', () => {
  it('are found within a minute, one finding a handler, with how many there are', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world } = watched
    await world.scheduleAll([{ handler: 'gone' }, { handler: 'gone' }, { handler: 'lost' }, {}])
    await clock.advance(MINUTE)
    expect(watched.watchdog.findings()).toMatchObject([
      {
        kind: 'HANDLER_MISSING',
        message: expect.stringContaining("2 due tasks wait for the handler 'gone'") as string,
      },
      {
        kind: 'HANDLER_MISSING',
        message: expect.stringContaining("1 due task waits for the handler 'lost'") as string,
      },
    ])
  })

  it('are found no more when they are cancelled', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world } = watched
    const { spec } = await world.schedule({ handler: 'gone' })
    await clock.advance(MINUTE)
    expect(watched.kinds()).toEqual(['HANDLER_MISSING'])
    await world.cancel(spec.id)
    await clock.advance(MINUTE)
    expect(watched.kinds()).toEqual([])
  })

  it('are no finding before they are due, or while they are paused', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world } = watched
    await world.schedule({ handler: 'gone', when: { kind: 'after', delayMs: 10 * MINUTE } })
    const { spec } = await world.schedule({ handler: 'gone' })
    await world.one(world.scheduler.pause([spec.id]))
    await clock.advance(5 * MINUTE)
    expect(watched.kinds()).toEqual([])
  })

  it('are all counted, however many there are', async () => {
    const watched = await WatchedWorld.start()
    await watched.world.scheduleAll(Array.from({ length: 1_500 }, () => ({ handler: 'gone' })))
    await watched.clock.advance(MINUTE)
    expect(watched.finding().message).toContain('1500 due tasks')
  })
})

describe('a run that a recurrence should have had', () => {
  it('and has not is found, with when it was due and why it does not start', async () => {
    const watched = await WatchedWorld.start({ handlers: { work: sleeps }, slots: { thread: 1 } })
    const { clock, world } = watched
    await world.schedule({ concurrencyKey: 'ledger' })
    const { spec, dueTime } = await world.schedule({ recurrence: everyHour, concurrencyKey: 'ledger' })
    await clock.advance(MINUTE)
    const { kind, message, since } = watched.finding()
    expect(kind).toBe('RUN_MISSING')
    expect(since).toBe(dueTime)
    expect(message).toContain(`The oldest is run 1 of '${spec.id}'`)
    expect(message).toContain(new Date(dueTime).toISOString())
    expect(message).toContain('concurrency key')
  })

  it('is one finding with all others that wait for the same', async () => {
    const watched = await WatchedWorld.start({ handlers: { work: sleeps }, slots: { thread: 1 } })
    const { clock, world } = watched
    await world.scheduleAll([
      {},
      { recurrence: everyHour },
      { recurrence: everyHour },
      { recurrence: everyHour },
    ])
    await clock.advance(MINUTE)
    expect(watched.finding().message).toContain('3 runs of recurrences have not started')
    expect(watched.logged).toHaveLength(1)
  })

  it('is found no more when it starts', async () => {
    const watched = await WatchedWorld.start({ handlers: { work: sleeps }, slots: { thread: 1 } })
    const { clock, world } = watched
    await world.schedule()
    await world.schedule({ recurrence: everyHour })
    await clock.advance(MINUTE)
    expect(watched.kinds()).toEqual(['RUN_MISSING'])
    await clock.advance(11 * MINUTE)
    expect(watched.kinds()).toEqual([])
  })

  it('is none while it waits for its back-off', async () => {
    const fails: Work = () => {
      throw new Error('it fails')
    }
    const watched = await WatchedWorld.start({ handlers: { work: fails } })
    await watched.world.schedule({
      recurrence: everyHour,
      retry: {
        maxAttempts: 5,
        initialBackoffMs: 10 * MINUTE,
        backoffMultiplier: 1,
        maxBackoffMs: 10 * MINUTE,
        jitterRatio: 0,
        nonRetryableCodes: [],
      },
    })
    await watched.clock.advance(9 * MINUTE)
    expect(watched.kinds()).toEqual([])
  })
})

describe('a due task that is in nobody’s hands', () => {
  it('is brought back to the scheduler, and found', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world } = watched
    const { spec } = await world.schedule({ when: { kind: 'after', delayMs: 5 * MINUTE } })
    const row = world.disk.rows.get(spec.id)
    if (!row) throw new Error('it must be stored')
    // the store believes that a scheduler has it, and none has
    row.held = true
    await clock.advance(6 * MINUTE)
    expect(world.result(spec.id).outcome).toBe('succeeded')
    expect(watched.finding()).toMatchObject({
      kind: 'DISPATCH_STALL',
      message: expect.stringContaining('nobody') as string,
    })
  })

  it('is none while slots are busy: it waits for its turn', async () => {
    const watched = await WatchedWorld.start({
      handlers: { work: sleeps },
      slots: { thread: 1 },
      scheduler: { capacity: 100 },
    })
    const { clock, world, watchdog } = watched
    await world.scheduleAll(Array.from({ length: 500 }, () => ({})))
    await clock.advance(5 * MINUTE)
    expect(watchdog.counts()['DISPATCH_STALL']).toBe(0)
  })
})

describe('a consumer that nobody reads for', () => {
  it('is found, and found no more when somebody does', async () => {
    const watched = await WatchedWorld.start()
    const { clock, idleConsumers } = watched
    idleConsumers.set('billing', { message: 'nobody reads for billing', since: clock.now() })
    await clock.advance(20_000)
    expect(watched.logged).toEqual(['warn CONSUMER_IDLE: the watchdog has found something'])
    expect(watched.finding()).toMatchObject({ kind: 'CONSUMER_IDLE', message: 'nobody reads for billing' })
    idleConsumers.clear()
    expect(watched.kinds()).toEqual([])
  })
})
