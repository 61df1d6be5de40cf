import { Outcome, type TaskResult as ResultMessage } from '../proto/generated/punctual/v1/result.js'
import { Position, type StreamResultsRequest } from '../proto/generated/punctual/v1/scheduler_service.js'
import { CallScope } from './call-scope.js'
import type { ClientTimer } from './client-clock.js'
import { ClientClosedError, CursorLostError, PunctualError, TaskEndedError } from './errors.js'
import { RecentResults } from './recent-results.js'
import { type MessageSource, resultMessages } from './result-messages.js'
import { toFilterMessage } from './result-stream.js'
import { type TaskResult, toTaskResult } from './task-result.js'

/** The stream stays open this long after its last waiter, so that schedule, result, schedule, result … does not open one for each. */
const LINGER_MS = 1_000

/** A moment in the life of the client: `moment` orders sends and answers, `seen` counts the results that had come. */
export interface Mark {
  readonly moment: number
  readonly seen: number
}

/** A task of this client, as far as its result concerns. */
export interface AwaitedTask {
  readonly id: string
  /** Its results come after this. */
  readonly cursor: string
  /** Taken before it was sent. */
  readonly sent: Mark
  /** Taken when the answer came. */
  readonly answered: Mark
  /** It is a recurring one: a result that has gone by is not the next to end. */
  readonly recurs: boolean
}

interface Waiter {
  readonly task: AwaitedTask
  readonly run: number | undefined
  resolve(result: TaskResult): void
  reject(error: Error): void
}

/** The one stream that is open while anybody waits. */
interface SharedReading {
  readonly scope: CallScope
  readonly startCursor: string | undefined
  /** Tasks that were sent after this moment come later in the log than where the reading started; unknown until the server has answered. */
  coversFrom: number
  readonly seenAtStart: number
  /** The server has answered. */
  alive: boolean
}

/** What the shared stream needs of its client. */
export interface SharedParts extends MessageSource {
  readonly origin: string
  /** Asks the server for a result that may have been missed; `undefined`: it has not ended. Tries until it is told. */
  readonly lookUp: (taskId: string, run: number | undefined) => Promise<TaskResult | undefined>
}

/** Waits for the results of many tasks with one stream of this client's results. */
export class SharedResults {
  readonly #parts: SharedParts
  readonly #waiters = new Map<string, Set<Waiter>>()
  readonly #recent = new RecentResults()
  #reading: SharedReading | undefined
  #starting = false
  #linger: ClientTimer | undefined
  #moment = 0
  #seen = 0
  #closed = false

  constructor(parts: SharedParts) {
    this.#parts = parts
  }

  /** To be taken before a task is sent, and again when it has been answered. */
  mark(): Mark {
    this.#moment++
    return { moment: this.#moment, seen: this.#seen }
  }

  /** The result of a task that this client stored: of the run, or the first that comes (skipped runs are passed over). */
  result(task: AwaitedTask, run: number | undefined, scope: CallScope): Promise<TaskResult> {
    return scope.step((resolve, reject) => {
      const waiter = { task, run, resolve, reject }
      const waiters = this.#waiters.get(task.id)
      if (waiters === undefined) this.#waiters.set(task.id, new Set([waiter]))
      else waiters.add(waiter)
      this.#linger?.cancel()
      if (this.#reading !== undefined) this.#check(waiter, this.#reading)
      else this.#startSoon()
      return () => this.#remove(waiter)
    })
  }

  /** Ends the stream and everybody's wait. */
  close(): void {
    this.#closed = true
    this.#linger?.cancel()
    this.#rejectAll(new ClientClosedError())
    this.#reading?.scope.end(new ClientClosedError())
  }

  /** Starts where the earliest of those who ask in this turn needs it. */
  #startSoon(): void {
    if (this.#starting) return
    this.#starting = true
    setImmediate(() => {
      this.#starting = false
      const waiters = [...this.#everyWaiter()]
      const [first] = waiters.toSorted((a, b) => a.task.sent.moment - b.task.sent.moment)
      if (first === undefined || this.#closed) return
      const { cursor, answered } = first.task
      if (cursor === '') this.#start(undefined, Infinity)
      else this.#start(cursor, answered.moment)
    })
  }

  #start(cursor: string | undefined, coversFrom: number): void {
    const scope = new CallScope()
    const reading = { scope, startCursor: cursor, coversFrom, seenAtStart: this.#seen, alive: false }
    this.#reading = reading
    void this.#read(reading)
    if (cursor !== undefined) this.#checkAll(reading)
  }

  async #read(reading: SharedReading): Promise<void> {
    const start: StreamResultsRequest['start'] =
      reading.startCursor === undefined
        ? { $case: 'position', value: Position.LATEST }
        : { $case: 'afterCursor', value: reading.startCursor }
    const request = { filter: toFilterMessage({ origins: [this.#parts.origin] }), start }
    try {
      const messages = resultMessages(this.#parts, { request, scope: reading.scope, patient: true })
      for await (const { results } of messages) {
        reading.alive = true
        if (reading.coversFrom === Infinity) {
          reading.coversFrom = this.mark().moment
          this.#checkAll(reading)
        }
        for (const result of results) this.#deliver(result)
        if (results.length === 0) this.#doubtOne()
      }
    } catch (error) {
      if (this.#reading === reading) this.#reading = undefined
      this.#afterBreak(error instanceof Error ? error : new Error(String(error)), reading)
    }
  }

  #afterBreak(error: Error, reading: SharedReading): void {
    if (this.#closed || this.#waiters.size === 0) return
    if (error instanceof CursorLostError && (reading.alive || reading.startCursor !== undefined)) {
      // what was missed is looked up, task by task, once the new stream stands
      this.#start(undefined, Infinity)
    } else if (error === LEFT) {
      this.#startSoon()
    } else {
      this.#rejectAll(error)
    }
  }

  #deliver(result: ResultMessage): void {
    this.#seen++
    const waiters = this.#waiters.get(result.taskId)
    if (waiters === undefined) {
      this.#recent.add(this.#seen, result)
      return
    }
    for (const waiter of waiters) answer(waiter, result, () => this.#remove(waiter))
  }

  /** Has the result of this task already gone by? If the stream cannot tell, the server can. */
  #check(waiter: Waiter, reading: SharedReading): void {
    if (reading.coversFrom === Infinity) return
    const { sent, cursor, id, recurs } = waiter.task
    const covered = cursor === reading.startCursor || sent.moment >= reading.coversFrom
    const missedNone = this.#recent.forgotten <= Math.max(sent.seen, reading.seenAtStart)
    const held = this.#recent.get(id)
    if (held !== undefined && (!recurs || held.last || waiter.run !== undefined)) {
      answer(waiter, held, () => this.#remove(waiter))
    }
    // of a recurring task only the newest result is held: the run that is asked for may have gone by before it
    const mayHavePassed = held !== undefined && waiter.run !== undefined
    if (!covered || !missedNone || mayHavePassed) this.#lookUp(waiter)
  }

  #lookUp(waiter: Waiter): void {
    if (this.#waiters.get(waiter.task.id)?.has(waiter) !== true) return
    void this.#ask(waiter)
  }

  async #ask(waiter: Waiter): Promise<void> {
    try {
      const result = await this.#parts.lookUp(waiter.task.id, waiter.run)
      if (result !== undefined && this.#remove(waiter)) waiter.resolve(result)
    } catch (error) {
      if (this.#remove(waiter)) waiter.reject(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /**
   * Asks for one waiting task, a different one each time: another client may have replaced it, and then its result bears that client's
   * origin and never comes here.
   */
  #doubtOne(): void {
    const [first] = this.#waiters
    if (first === undefined) return
    const [id, waiters] = first
    this.#waiters.delete(id)
    this.#waiters.set(id, waiters)
    for (const waiter of waiters) this.#lookUp(waiter)
  }

  #checkAll(reading: SharedReading): void {
    for (const waiter of Array.from(this.#everyWaiter())) this.#check(waiter, reading)
  }

  *#everyWaiter(): Generator<Waiter> {
    for (const waiters of this.#waiters.values()) yield* waiters
  }

  #remove(waiter: Waiter): boolean {
    const waiters = this.#waiters.get(waiter.task.id)
    if (waiters?.delete(waiter) !== true) return false
    if (waiters.size === 0) this.#waiters.delete(waiter.task.id)
    if (this.#waiters.size === 0) this.#leaveSoon()
    return true
  }

  #leaveSoon(): void {
    this.#linger?.cancel()
    if (this.#reading === undefined) return
    this.#linger = this.#parts.options.clock.setTimer(LINGER_MS, () => {
      if (this.#waiters.size === 0) this.#reading?.scope.end(LEFT)
    })
  }

  #rejectAll(error: Error): void {
    for (const waiter of Array.from(this.#everyWaiter())) {
      if (this.#remove(waiter)) waiter.reject(error)
    }
  }
}

const LEFT = new PunctualError({ message: 'nobody waits for a result any more' })

/** Gives a result to a waiter, if it is the one that it waits for. */
function answer(waiter: Waiter, message: ResultMessage, settled: () => void): void {
  const { run, task } = waiter
  const resultRun = Number(message.run)
  if (run === undefined ? message.outcome !== Outcome.SKIPPED || message.last : resultRun === run) {
    settled()
    waiter.resolve(toTaskResult(message))
  } else if (message.last && run !== undefined && resultRun < run) {
    settled()
    const text = `task '${task.id}' ended with run ${resultRun}: run ${run} never took place`
    waiter.reject(new TaskEndedError({ message: text, metadata: { task_id: task.id } }))
  }
}
