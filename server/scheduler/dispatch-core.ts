import { LANES, type Lane } from '../executor/executor.js'
import type { Instant } from '../task/instant.js'
import { missedRuns } from '../task/next-run.js'
import { expire, expiryOf } from '../task/requests.js'
import type { Transition } from '../task/result.js'
import { BurstDealer } from './bursts.js'
import { HandlerWork } from './handler-work.js'
import type { Burst, LiveTask } from './live-task.js'
import type { LoadedHandlers } from './loaded-handlers.js'
import { ParkedTasks } from './parked-tasks.js'
import { PendingHeap } from './pending-heap.js'
import type { PendingTasks } from './pending-tasks.js'
import { type Frontier, StartLine } from './start-line.js'

export interface DispatchParts {
  readonly pending: PendingTasks
  readonly handlers: LoadedHandlers
  readonly slots: Readonly<Record<Lane, number>>
  /** Slots that may be busy at once in all lanes together. Default: all. */
  readonly atOnce?: number
  readonly priorityStepMs?: number | undefined
}

export interface LaneState {
  readonly lane: Lane
  readonly slots: number
  readonly busy: number
  /** Due tasks that wait for nothing but a slot of this lane. */
  readonly ready: number
}

/** A waiting task to which something happens without a start: it expired, or its rhythm has passed it. */
export interface Decided {
  readonly live: LiveTask
  readonly transition: Transition
}

/**
 * Decides what starts when. Pure: it is told the time and asked; it holds no timer, awaits nothing and stores nothing.
 * What cannot start (key held, handler at its limit, handler not loaded) takes no slot and stands in nobody's way.
 */
export class DispatchCore {
  readonly line: StartLine
  readonly parked = new ParkedTasks()
  readonly work = new HandlerWork()
  readonly #pending: PendingTasks
  readonly #expiring = new PendingHeap()
  readonly #slots: Readonly<Record<Lane, number>>
  readonly #atOnce: number
  readonly #busy: Record<Lane, number> = { thread: 0, shared: 0 }
  readonly #tasks: (LiveTask | undefined)[] = []
  readonly #freePlaces: number[] = []
  /** Due tasks of a group of which an earlier one is parked: their turn is after it. */
  #behindParked: LiveTask[] = []
  /** Groups that have become shorter while tasks are parked. */
  #touched = new Set<string>()
  #lookedAt: Instant = -Infinity
  #waiting = 0

  constructor({ pending, handlers, slots, atOnce = Infinity, priorityStepMs }: DispatchParts) {
    this.#pending = pending
    this.#slots = slots
    this.#atOnce = atOnce
    this.line = new StartLine(handlers, (place) => this.#at(place), priorityStepMs)
  }

  /** Tasks that wait in memory, due or not. */
  get waiting(): number {
    return this.#waiting
  }

  /** Due tasks that wait, for whatever reason. */
  get dueWaiting(): number {
    return this.#waiting - this.#pending.size + this.parked.size
  }

  /** Tasks in memory that wait for their time or a slot, and for nothing else. */
  get startable(): number {
    return this.#waiting - this.blocked
  }

  /** Due tasks in memory that could not start if a slot were free. */
  get blocked(): number {
    return this.#waiting - this.#pending.size - this.line.length('thread') - this.line.length('shared')
  }

  /** When a look has something to do. */
  get earliest(): Instant {
    return Math.min(this.#pending.earliest, this.#expiring.earliest)
  }

  lane(lane: Lane): LaneState {
    return { lane, slots: this.#slots[lane], busy: this.#busy[lane], ready: this.line.length(lane) }
  }

  /** Takes a waiting task in. What is due already need not wait for a look, if it was due at the last one. */
  add(live: LiveTask, now: Instant): void {
    const place = this.#freePlaces.pop() ?? this.#tasks.length
    this.#tasks[place] = live
    live.place = place
    this.#waiting++
    const { notBefore, arrival } = live.task
    const expiry = expiryOf(live.task)
    if (expiry !== Infinity) this.#expiring.add(place, expiry + 1, arrival)
    // A run of a series goes through a look, which asks what its rhythm has missed; but once only.
    const isSeen = !live.task.spec.recurrence || live.openRun === live.task.run
    if (notBefore <= this.#lookedAt && notBefore <= now && isSeen) {
      this.#becomeDue(live)
    } else {
      live.where = 'pending'
      this.#pending.add(place, notBefore, arrival)
    }
  }

  /** Takes a waiting task out: a change of it is being stored. */
  remove(live: LiveTask): void {
    if (live.where === 'pending') this.#pending.remove(live.place)
    else {
      this.line.leave(live)
      if (this.parked.size > 0) this.touch(this.line.groupOf(live))
    }
    live.where = 'held'
    this.#forget(live)
  }

  /** Moves what has become due by `now` into line. @returns what happened to tasks that will not start as they are; they are taken out. */
  look(now: Instant): readonly Decided[] {
    const decided: Decided[] = []
    this.#lookedAt = now
    for (let place = this.#expiring.takeDue(now); place >= 0; place = this.#expiring.takeDue(now)) {
      const live = this.#at(place)
      // What was missed is decided first: which runs exist, and when each is due.
      const missed = live.where === 'pending' ? missedRuns(live.task, now) : undefined
      this.remove(live)
      decided.push({ live, transition: missed ?? expire(live.task, now) })
    }
    for (let place = this.#pending.takeDue(now); place >= 0; place = this.#pending.takeDue(now)) {
      const live = this.#at(place)
      const transition = live.task.spec.recurrence && missedRuns(live.task, now)
      if (transition) {
        live.where = 'held'
        this.#forget(live)
        decided.push({ live, transition })
      } else {
        live.openRun = live.task.run
        this.#becomeDue(live)
      }
    }
    return decided
  }

  /**
   * What starts now, in the order of start keys, each burst in a slot of its own; from now on it holds slot, key and limits.
   *
   * @param limit - At most so many tasks.
   * @param frontier - Nothing beyond it starts.
   */
  start(limit: number, frontier?: Frontier): readonly Burst[] {
    const started: Burst[] = []
    let left = limit
    for (const lane of this.#lanesByFirst()) {
      const freeSlots = this.#free(lane)
      if (freeSlots <= 0 || this.line.length(lane) === 0) continue
      const dealer = new BurstDealer(lane, freeSlots, this.work)
      while (left > 0) {
        const live = this.line.first(lane, frontier)
        if (!live || !dealer.deal(live)) break
        this.line.start(live, lane)
        if (this.parked.size > 0) this.touch(this.line.groupOf(live))
        this.#forget(live)
        left--
      }
      this.#busy[lane] += dealer.bursts.length
      started.push(...dealer.bursts)
    }
    return started
  }

  /** Whether a task beyond the frontier would start now if it were known to be the first. */
  isHeldBack(frontier: Frontier): boolean {
    return LANES.some(
      (lane) => this.#free(lane) > 0 && this.line.length(lane) > 0 && !this.line.isWithin(lane, frontier),
    )
  }

  /** The attempt is over: its slot and its share of the limits are free. Its key stays held until `settled`. */
  slotFreed(live: LiveTask): void {
    const { burst } = live
    if (!burst) return
    live.burst = undefined
    burst.open--
    if (burst.open === 0) this.#busy[burst.lane]--
    this.line.freed(live)
  }

  /** What the attempt led to is stored: its key is free. */
  settled(live: LiveTask): void {
    live.where = 'held'
    if (this.parked.size > 0 && live.heldKey !== '') this.touch(`key ${live.heldKey}`)
    this.line.releaseKey(live)
  }

  /** Tasks that came into line behind parked ones since the last call; they are taken out. */
  takeBehindParked(): readonly LiveTask[] {
    if (this.#behindParked.length === 0) return this.#behindParked
    const behind = this.#behindParked
    this.#behindParked = []
    return behind
      .filter(({ where }) => where === 'behindParked')
      .map((live) => {
        this.#forget(live)
        live.where = 'held'
        return live
      })
  }

  /** A group may need some of its parked tasks. */
  touch(group: string): void {
    this.#touched.add(group)
  }

  takeTouched(): ReadonlySet<string> {
    const touched = this.#touched
    this.#touched = new Set(LANES.map((lane) => `lane ${lane}`))
    return touched
  }

  /** The wall clock was set back: what is due no longer waits for its time again. */
  setBack(now: Instant): void {
    const waiting = [...this]
    for (const live of waiting) this.remove(live)
    this.#lookedAt = now
    for (const live of waiting) this.add(live, now)
  }

  /** Every task that waits in memory. */
  *[Symbol.iterator](): Generator<LiveTask> {
    for (const live of this.#tasks) if (live) yield live
  }

  #free(lane: Lane): number {
    const { thread, shared } = this.#busy
    return Math.min(this.#slots[lane] - this.#busy[lane], this.#atOnce - thread - shared)
  }

  /** Lanes that share slots are served in the order of who stands first in them: otherwise a busy one would starve the other. */
  #lanesByFirst(): readonly Lane[] {
    return this.#atOnce === Infinity ? LANES : LANES.toSorted((a, b) => this.line.compareLanes(a, b))
  }

  #becomeDue(live: LiveTask): void {
    const { parked, line } = this
    if (parked.size > 0 && parked.isAhead(line.groupOf(live), line.orderOf(live), live.task.arrival)) {
      live.where = 'behindParked'
      this.#behindParked.push(live)
    } else {
      line.enter(live)
    }
  }

  #forget(live: LiveTask): void {
    this.#expiring.remove(live.place)
    this.#tasks[live.place] = undefined
    this.#freePlaces.push(live.place)
    live.place = -1
    this.#waiting--
  }

  #at(place: number): LiveTask {
    const live = this.#tasks[place]
    if (!live) throw new Error(`no task in memory has the place ${place}`)
    return live
  }
}
