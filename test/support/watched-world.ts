import type { Log, LogFacts } from '../../server/task/log.js'
import type { Finding } from '../../server/watchdog/findings.js'
import { StoreCalls } from '../../server/watchdog/store-calls.js'
import { type IdleConsumer, Watchdog } from '../../server/watchdog/watchdog.js'
import { FaultyClock } from './faulty-clock.js'
import { SchedulerWorld, type WorldOptions } from './scheduler-world.js'

const INTERVAL_MS = 1_000
export const STALL_MS = 10_000

/** A whole server without its edge, a watchdog that looks at it, and a clock of which parts go wrong. */
export class WatchedWorld {
  readonly clock: FaultyClock
  readonly world: SchedulerWorld
  readonly watchdog: Watchdog
  /** What was logged by the watchdog: level, kind and whether it is over. */
  readonly logged: string[] = []
  /** What health says, whenever it changed. */
  readonly health: boolean[] = []
  readonly idleConsumers = new Map<string, IdleConsumer>()
  readonly stopped: number[] = []
  /** While set, the disk hangs: writes begin and are not answered before it resolves. */
  diskHangs: Promise<void> | undefined

  private constructor(clock: FaultyClock, world: SchedulerWorld) {
    this.clock = clock
    this.world = world
    const calls = new StoreCalls(clock)
    this.#watchWrites(calls)
    const note =
      (level: string) =>
      (message: string, facts: LogFacts = {}): void => {
        this.logged.push(`${level} ${String(facts['finding'])}: ${message}`)
      }
    const log: Log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') }
    this.watchdog = new Watchdog(
      {
        clock,
        log,
        scheduler: world.scheduler,
        store: world.store,
        calls,
        stopAttempt: (startId) => void this.stopped.push(startId),
        idleConsumers: () => this.idleConsumers,
        onHealth: (isAble) => void this.health.push(isAble),
      },
      { intervalMs: INTERVAL_MS, stallMs: STALL_MS },
    )
    this.watchdog.start()
  }

  static async start(options: WorldOptions = {}): Promise<WatchedWorld> {
    const clock = new FaultyClock()
    return new WatchedWorld(clock, await SchedulerWorld.start({ ...options, clock }))
  }

  kinds(): readonly string[] {
    return this.watchdog.findings().map(({ kind }) => kind)
  }

  /** The only finding there is. */
  finding(): Finding {
    const [finding, ...others] = this.watchdog.findings()
    if (!finding || others.length > 0)
      throw new Error(`found ${this.kinds().join(', ') || 'nothing'}, not one thing`)
    return finding
  }

  /** In place: the scheduler has its store already. */
  #watchWrites(calls: StoreCalls): void {
    const { store } = this.world
    const bare = {
      insert: store.insert.bind(store),
      start: store.start.bind(store),
      update: store.update.bind(store),
      reserveStartIds: store.reserveStartIds.bind(store),
    }
    const slowly = <T>(write: () => Promise<T>): Promise<T> =>
      calls.watch(async () => {
        if (this.diskHangs) await this.diskHangs
        return write()
      })
    store.insert = (requests) => slowly(() => bare.insert(requests))
    store.start = (starts) => slowly(() => bare.start(starts))
    store.update = (transitions) => slowly(() => bare.update(transitions))
    store.reserveStartIds = (count) => slowly(() => bare.reserveStartIds(count))
  }
}
