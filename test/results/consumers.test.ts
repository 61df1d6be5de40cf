import { describe, expect, it } from 'vitest'
import { releasedThrough } from '../../server/results/consumer-patience.js'
import { Consumers, type ConsumerState, type ConsumerWish } from '../../server/results/consumers.js'
import { ResultLog } from '../../server/results/result-log.js'
import type { LogFilter, TaskStore } from '../../server/store/task-store.js'
import { StoreUnavailableError } from '../../server/task/errors.js'
import { override } from '../../server/telemetry/port-override.js'
import { immediateClock } from '../support/immediate-clock.js'
import { MemoryStore } from '../support/memory-store.js'
import { aResult } from './entries.js'

const DAY_MS = 24 * 60 * 60_000
const NOW = Date.UTC(2030, 0, 1)

const ALL: LogFilter = {
  taskIds: new Set(),
  handlers: new Set(),
  labels: {},
  outcomes: new Set(),
  origins: new Set(),
  includeAttempts: false,
}
const wish = (name: string, given: Partial<ConsumerWish> = {}): ConsumerWish => ({
  name,
  filter: ALL,
  lossy: false,
  start: { kind: 'earliest' },
  ...given,
})

/** A store with ten results, of which retention removes the oldest. */
async function world() {
  const memory = new MemoryStore(immediateClock(() => NOW))
  for (let i = 0; i < 10; i++) memory.disk.append(aResult(), NOW)
  let earliest = 0
  const store: TaskStore = override<TaskStore>(memory, {
    stats: async () => ({ ...(await memory.stats()), earliest }),
  })
  const log = await ResultLog.open(store, 'log')
  const open = (): Promise<Consumers> => Consumers.open({ store, log })
  return {
    memory,
    log,
    consumers: await open(),
    reopen: open,
    removeThrough: (position: number) => {
      earliest = position
    },
  }
}

async function reasonOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'none',
    (error: { reason?: string; message: string }) => error.reason ?? error.message,
  )
}

describe('a consumer whose next results are no longer kept', () => {
  it('is told so, and goes on at the earliest when it acknowledges the loss', async () => {
    const { consumers, log, removeThrough } = await world()
    const seat = await consumers.take(wish('c'))
    seat.leave()
    removeThrough(4)
    await expect(consumers.take(wish('c'))).rejects.toMatchObject({
      reason: 'CURSOR_EXPIRED',
      facts: { consumer: 'c', earliest_cursor: log.cursor(4) },
    })
    expect(await consumers.acknowledge('c', log.cursor(4))).toBe(4)
    expect((await consumers.take(wish('c'))).position).toBe(4)
  })

  it('goes on at the earliest by itself when it is lossy', async () => {
    const { consumers, removeThrough } = await world()
    const first = await consumers.take(wish('c', { lossy: true }))
    first.leave()
    removeThrough(4)
    expect((await consumers.take(wish('c'))).position).toBe(4)
  })

  it('is not a new one that retention was ahead of: it begins at what is there', async () => {
    const { consumers, log, removeThrough } = await world()
    const [seat] = await Promise.all([
      consumers.take(wish('new')),
      Promise.resolve().then(() => removeThrough(4)),
    ])
    expect(seat.position).toBe(4)
    removeThrough(6)
    const late = consumers.take(wish('late', { start: { kind: 'after', cursor: log.cursor(5) } }))
    expect(await reasonOf(late)).toBe('CURSOR_EXPIRED')
  })

  it('may still acknowledge what it has read before', async () => {
    const { consumers, log, removeThrough } = await world()
    await consumers.take(wish('c'))
    removeThrough(8)
    expect(await consumers.acknowledge('c', log.cursor(3))).toBe(3)
  })
})

describe('what a consumer acknowledges', () => {
  it('counts only once it is on disk', async () => {
    const { consumers, log, memory } = await world()
    await consumers.take(wish('c'))
    memory.trouble = new StoreUnavailableError('the disk is away')
    expect(await reasonOf(consumers.acknowledge('c', log.cursor(5)))).toBe('STORE_UNAVAILABLE')
    expect(consumers.list()).toMatchObject([{ name: 'c', position: 0, lag: 10 }])
    memory.trouble = undefined
    await consumers.acknowledge('c', log.cursor(5))
    expect(consumers.list()).toMatchObject([{ name: 'c', position: 5, lag: 5 }])
  })

  it('while a stream takes over is where that stream begins', async () => {
    const { consumers, log } = await world()
    await consumers.take(wish('c'))
    const [, seat] = await Promise.all([consumers.acknowledge('c', log.cursor(6)), consumers.take(wish('c'))])
    expect(seat.position).toBe(6)
  })

  it('is known to the next process', async () => {
    const { consumers, log, reopen } = await world()
    await consumers.take(wish('c'))
    await consumers.acknowledge('c', log.cursor(6))
    expect((await reopen()).list()).toMatchObject([{ name: 'c', position: 6, connected: false }])
  })
})

describe('a consumer that cannot be stored', () => {
  it('is none', async () => {
    const { consumers, memory } = await world()
    memory.trouble = new StoreUnavailableError('the disk is away')
    expect(await reasonOf(consumers.take(wish('c')))).toBe('STORE_UNAVAILABLE')
    memory.trouble = undefined
    expect(consumers.list()).toEqual([])
    expect((await consumers.take(wish('c'))).position).toBe(0)
  })
})

describe('the number of consumers', () => {
  it('is limited, so that names that are made up do not fill the store', async () => {
    const { consumers } = await world()
    const names = Array.from({ length: 1_000 }, (_, n) => `c${n}`)
    const all = await Promise.allSettled([...names, 'more'].map((name) => consumers.take(wish(name))))
    expect(all.filter(({ status }) => status === 'rejected')).toMatchObject([
      { reason: { reason: 'TOO_MANY_CONSUMERS', facts: { limit: '1000' } } },
    ])
    await consumers.forget('c7')
    expect((await consumers.take(wish('more'))).position).toBe(0)
  })
})

describe('retention', () => {
  const state = (name: string, position: number, given: Partial<ConsumerState> = {}): ConsumerState => ({
    name,
    position,
    filter: ALL,
    lossy: false,
    createTime: 0,
    activeTime: NOW,
    lag: 0,
    connected: false,
    ...given,
  })
  const through = (...consumers: ConsumerState[]): number => releasedThrough(consumers, NOW)

  it('waits for the consumer furthest behind', () => {
    expect(through(state('a', 30), state('b', 20), state('c', 40))).toBe(20)
  })

  it('waits for none when there is none, or only lossy ones', () => {
    expect(through()).toBe(Number.MAX_SAFE_INTEGER)
    expect(through(state('a', 30, { lossy: true }))).toBe(Number.MAX_SAFE_INTEGER)
  })

  it('waits no longer for one that was away for 8 days, unless it is connected', () => {
    const away = { activeTime: NOW - 8 * DAY_MS }
    expect(through(state('a', 30, away), state('b', 40))).toBe(40)
    expect(through(state('a', 30, { ...away, activeTime: away.activeTime + 1 }), state('b', 40))).toBe(30)
    expect(through(state('a', 30, { ...away, connected: true }), state('b', 40))).toBe(30)
  })
})
