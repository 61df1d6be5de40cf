import { describe, expect, it } from 'vitest'
import { SchedulerError } from '../../server/task/errors.js'
import { STALL_MS, WatchedWorld } from '../support/watched-world.js'

// as it comes out of the store's thread: with its reason, without its class
const trouble = new SchedulerError('STORE_UNAVAILABLE', 'the disk is full')

describe('a store that does not commit', () => {
  it('is found at once; after two seconds the server is out of service, until it commits again', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world, health } = watched
    await world.schedule()
    world.store.trouble = trouble
    await expect(world.insert([])).rejects.toThrow(trouble)
    await clock.advance(1_000)
    expect(watched.finding()).toMatchObject({
      kind: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('the disk is full') as string,
    })
    expect(health).toEqual([])
    await clock.advance(2_000)
    expect(health).toEqual([false])
    world.store.trouble = undefined
    await clock.advance(2_000)
    expect(health).toEqual([false, true])
    expect(watched.kinds()).toEqual([])
    expect(watched.logged).toEqual([
      'error STORE_UNAVAILABLE: the watchdog has found something',
      'info STORE_UNAVAILABLE: what the watchdog had found is over',
    ])
  })

  it('for a moment only does not turn health', async () => {
    const { clock, world, health } = await WatchedWorld.start()
    world.store.trouble = trouble
    await expect(world.insert([])).rejects.toThrow(trouble)
    await clock.advance(1_200)
    world.store.trouble = undefined
    await clock.advance(10_000)
    expect(health).toEqual([])
  })
})

describe('a store that does not answer', () => {
  it('is out of service after the stall limit, until it answers', async () => {
    const watched = await WatchedWorld.start()
    const { clock, world, health } = watched
    let answer = (): void => {}
    watched.diskHangs = new Promise((resolve) => (answer = resolve))
    const { spec } = await world
      .schedule({ when: { kind: 'after', delayMs: 50_000 } })
      .catch(() => ({ spec: undefined }))
    expect(spec).toBeUndefined()
    expect(health).toEqual([false])
    expect(watched.finding()).toMatchObject({
      kind: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('not answered') as string,
    })
    watched.diskHangs = undefined
    answer()
    await clock.advance(2_000)
    expect(watched.kinds()).toEqual([])
    expect(health).toEqual([false, true])
  })

  it('for less than the stall limit is a slow disk', async () => {
    const watched = await WatchedWorld.start()
    let answer = (): void => {}
    watched.diskHangs = new Promise((resolve) => (answer = resolve))
    const inserted = watched.world.insert([])
    await watched.clock.advance(STALL_MS - 1_500)
    watched.diskHangs = undefined
    answer()
    await watched.clock.advance(2_000)
    await inserted
    expect(watched.watchdog.counts()['STORE_UNAVAILABLE']).toBe(0)
    expect(watched.health).toEqual([])
  })
})
