import type { Clock, Timer } from '../clock.js'
import type { Pulse, RunningAttempt } from '../scheduler/pulse.js'
import type { TaskStore } from '../store/task-store.js'
import type { Instant } from '../task/instant.js'
import type { Log } from '../task/log.js'
import { AttemptWatch } from './attempt-watch.js'
import { DispatchWatch } from './dispatch-watch.js'
import { Findings, type Finding } from './findings.js'
import { type Knowing, OverdueWatch } from './overdue-watch.js'
import type { StoreCalls } from './store-calls.js'
import { StoreWatch } from './store-watch.js'
import { TimeWatch } from './time-watch.js'

/** Of the scheduler, what the watchdog sees and what it can do. */
export interface WatchedScheduler extends Omit<Knowing, 'hasFreeSlots'> {
  pulse(): Pulse
  snapshot(): {
    readonly lanes: readonly { readonly slots: number; readonly busy: number }[]
    readonly storeAvailable: boolean
  }
  runningAttempts(): Iterable<RunningAttempt>
}

/** Something that another part has noticed, and that is shown like the rest. */
export interface IdleConsumer {
  readonly message: string
  readonly since: Instant
}

export interface WatchdogParts {
  readonly clock: Clock
  readonly log: Log
  readonly scheduler: WatchedScheduler
  readonly store: Pick<TaskStore, 'list' | 'get' | 'giveBack' | 'now' | 'reserveStartIds'>
  readonly calls: StoreCalls
  /** Stops an attempt by force. */
  readonly stopAttempt: (startId: number) => void
  /** Consumers that nobody reads for, by name. */
  readonly idleConsumers: () => ReadonlyMap<string, IdleConsumer>
  /** Told whenever this changes: whether the server does its work. */
  readonly onHealth: (isAble: boolean) => void
}

export interface WatchdogOptions {
  /** Between two looks; 0 = it does not look. */
  readonly intervalMs: number
  /** A store that does not answer, or a dispatch that stands still, for this long: the server does not do its work. */
  readonly stallMs: number
}

/** The slower looks are taken at every so many looks. */
const SLOW_LOOKS = 10

/** Looks at the server from inside, again and again: finds what stands still or is late, heals it where it can, and says so. */
export class Watchdog {
  readonly #parts: WatchdogParts
  readonly #options: WatchdogOptions
  readonly #findings: Findings
  readonly #time: TimeWatch
  readonly #dispatch: DispatchWatch
  readonly #store: StoreWatch
  readonly #attempts: AttemptWatch
  readonly #overdue: OverdueWatch
  #timer: Timer | undefined
  #isAble = true
  #looks = 0

  constructor(parts: WatchdogParts, options: WatchdogOptions) {
    const { clock, log, scheduler, store, calls } = parts
    this.#parts = parts
    this.#options = options
    const findings = new Findings(clock, log)
    this.#findings = findings
    this.#time = new TimeWatch(clock, findings, () => scheduler.lookAnew())
    this.#dispatch = new DispatchWatch(clock, findings, scheduler, options.stallMs)
    this.#store = new StoreWatch({
      clock,
      findings,
      calls,
      isAvailable: () => scheduler.snapshot().storeAvailable,
      probe: () => store.reserveStartIds(1),
      stallMs: options.stallMs,
    })
    this.#attempts = new AttemptWatch(clock, findings, () => scheduler.runningAttempts(), parts.stopAttempt)
    this.#overdue = new OverdueWatch({
      clock,
      findings,
      store,
      scheduler: {
        blockedReason: (task) => scheduler.blockedReason(task),
        knows: (id) => scheduler.knows(id),
        lookAnew: () => scheduler.lookAnew(),
        hasFreeSlots: () => !scheduler.pulse().isHeld && scheduler.snapshot().lanes.every(isFree),
      },
    })
  }

  /** Begins to look, unless the interval is 0. */
  start(): void {
    if (this.#options.intervalMs > 0) this.#look()
  }

  /** Looks no more. */
  stop(): void {
    this.#timer?.cancel()
    this.#time.stop()
  }

  /** What is wrong now, and what was a short while ago. */
  findings(): readonly Finding[] {
    this.#lookAtConsumers()
    return this.#findings.present()
  }

  /** How often each kind of thing was found since the start. */
  counts(): Readonly<Record<string, number>> {
    return this.#findings.counts()
  }

  #look(): void {
    const { intervalMs } = this.#options
    this.#timer = this.#parts.clock.setTimer(intervalMs, () => this.#look())
    this.#time.look(intervalMs)
    const storeIsOut = this.#store.look()
    const standsStill = this.#dispatch.look()
    this.#sayHealth(!storeIsOut && !standsStill)
    const isSlowLook = ++this.#looks % SLOW_LOOKS === 0
    if (isSlowLook || this.#overdue.isUnderWay) void this.#overdue.look()
    if (!isSlowLook) return
    this.#attempts.look()
    this.#lookAtConsumers()
  }

  #lookAtConsumers(): void {
    this.#findings.areExactly('CONSUMER_IDLE', this.#parts.idleConsumers())
  }

  #sayHealth(isAble: boolean): void {
    if (isAble === this.#isAble) return
    this.#isAble = isAble
    this.#parts.onHealth(isAble)
  }
}

const isFree = ({ slots, busy }: { readonly slots: number; readonly busy: number }): boolean => busy < slots
