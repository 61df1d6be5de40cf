import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Retention } from '../../server/maintenance/retention.js'
import type { RetentionOptions } from '../../server/maintenance/retention-rules.js'
import { StoreUnavailableError } from '../../server/task/errors.js'
import type { Log, LogFacts } from '../../server/task/log.js'
import type { EndState } from '../../server/task/task.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { MemoryStore } from '../support/memory-store.js'
import { created, only } from '../store/store-world.js'
import { ending, EVERYTHING, named } from '../store/stored-tasks.js'

const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

describe('retention', () => {
  let clock: VirtualClock
  let store: MemoryStore
  let retention: Retention
  /** What comes after this is still to be read. */
  let keepAfter: number
  let said: [level: string, message: string, facts: LogFacts | undefined][]
  const log: Log = {
    debug() {},
    info() {},
    warn: (message, facts) => said.push(['warn', message, facts]),
    error: (message, facts) => said.push(['error', message, facts]),
  }

  beforeEach(() => {
    said = []
    keepAfter = Number.MAX_SAFE_INTEGER
    clock = new VirtualClock()
    store = new MemoryStore(clock)
  })
  afterEach(async () => {
    const stopped = retention.stop()
    await clock.advance(0)
    await stopped
  })

  const start = (options: Partial<RetentionOptions> = {}): void => {
    retention = new Retention({ store, keepAfter: () => keepAfter, clock, log }, options)
    retention.start()
  }
  const overTime = async <T>(call: Promise<T>): Promise<T> => {
    await clock.advance(0)
    return call
  }
  /** A task that ends now, in this state, and need not be remembered. */
  const ended = async (id: string, state: EndState = 'succeeded'): Promise<void> => {
    const task = named(id, { spec: { rememberIdForMs: 0 } })
    const answer = only(await overTime(store.insert([{ task, near: true }])))
    await overTime(store.update([ending(created(answer), state, { endTime: clock.now() })]))
  }
  const kept = (): string[] => [...store.disk.rows.keys()]
  const consumer = (name: string, position: number, lossy = false): Promise<void> =>
    overTime(
      store.keepConsumer({
        name,
        position,
        filter: EVERYTHING,
        lossy,
        createTime: clock.now(),
        activeTime: clock.now(),
      }),
    )

  it('keeps results for a week, and for 30 days what did not succeed', async () => {
    start()
    await ended('succeeded')
    await ended('cancelled', 'cancelled')
    await ended('failed', 'failed')
    await ended('expired', 'expired')
    await clock.advance(7 * DAY)
    expect(kept()).toEqual(['succeeded', 'cancelled', 'failed', 'expired'])
    await clock.advance(MINUTE)
    expect(kept()).toEqual(['failed', 'expired'])
    await clock.advance(23 * DAY)
    expect(kept()).toEqual([])
  })

  it('keeps what failed never shorter than the rest', async () => {
    start({ resultsMs: 10 * DAY, failedMs: DAY })
    await ended('failed', 'failed')
    await clock.advance(9 * DAY)
    expect(kept()).toEqual(['failed'])
  })

  it('goes on until nothing is left that may go, however much it is', async () => {
    start({ resultsMs: DAY })
    for (let i = 0; i < 5_000; i++) store.disk.append({ ...result, taskId: `t${i}` }, clock.now())
    await clock.advance(DAY + MINUTE)
    expect(store.disk.floor).toBe(5_000)
    expect(store.calls.get('purge')).toBeGreaterThan(2)
  })

  it('keeps what is still to be read, whatever its age; once it goes all the same, it says so', async () => {
    start({ resultsMs: DAY })
    await ended('a')
    await ended('b')
    await consumer('billing', 1)
    keepAfter = 1
    await clock.advance(9 * DAY)
    expect(kept()).toEqual(['b'])
    expect(said).toEqual([])
    keepAfter = Number.MAX_SAFE_INTEGER
    await clock.advance(MINUTE)
    expect(kept()).toEqual([])
    expect(said).toEqual([
      [
        'warn',
        'results were removed that a consumer had not read',
        { consumer: 'billing', lossy: false, unread: 1 },
      ],
    ])
  })

  it('says of a lossy consumer, too, what it has missed, once', async () => {
    start({ resultsMs: DAY })
    await consumer('dashboard', 0, true)
    await ended('a')
    await clock.advance(2 * DAY)
    await ended('b')
    await clock.advance(2 * DAY)
    expect(kept()).toEqual([])
    expect(said).toHaveLength(1)
  })

  it('removes the oldest when all results take too many bytes', async () => {
    start({ maxResultBytes: 1_000 })
    for (let i = 0; i < 9; i++) await ended(`t${i}`)
    await clock.advance(MINUTE)
    expect(store.disk.resultBytes).toBeLessThanOrEqual(1_000)
    expect(kept().at(-1)).toBe('t8')
    expect(kept()).not.toContain('t0')
  })

  it('tidies the files once, when nothing has ended between two looks', async () => {
    start()
    await ended('a')
    await clock.advance(10 * MINUTE)
    expect(store.calls.get('tidy')).toBe(1)
    await ended('b')
    await clock.advance(10 * MINUTE)
    expect(store.calls.get('tidy')).toBe(2)
  })

  it('leaves a store in trouble alone, and goes on when it is back', async () => {
    start({ resultsMs: DAY })
    await ended('a')
    store.trouble = new StoreUnavailableError('the disk is away')
    await clock.advance(2 * DAY)
    store.trouble = undefined
    await clock.advance(MINUTE)
    expect(kept()).toEqual([])
    expect(said).toEqual([])
  })

  it('says so when something is wrong that is not the trouble of the store', async () => {
    start()
    store.trouble = new TypeError('a fault of ours')
    await clock.advance(MINUTE)
    expect(said[0]?.slice(0, 2)).toEqual(['error', 'results cannot be removed'])
    store.trouble = undefined
  })

  it('looks no more once it was stopped', async () => {
    start({ resultsMs: DAY })
    await ended('a')
    const stopped = retention.stop()
    await clock.advance(2 * DAY)
    await stopped
    expect(kept()).toEqual(['a'])
  })
})

const [result] = ending({ ...named('x'), arrival: 0 }).entries as [
  ReturnType<typeof ending>['entries'][number],
]
