import { newId } from './new-id.js'
import type { Clock } from '../clock.js'
import { Slices } from '../clock/slices.js'
import type { HandlerCatalogue } from '../handlers/catalogue.js'
import type { InsertAnswer, InsertRequest, TaskStore } from '../store/task-store.js'
import { admit } from '../task/admit.js'
import { InvalidRequestError, SchedulerError, TaskExistsError } from '../task/errors.js'
import { everRuns, noRunLeft } from '../task/first-run.js'
import { nearestName } from '../task/nearest-name.js'
import type { Instant } from '../task/instant.js'
import type { Task } from '../task/task.js'
import type { TaskSpec } from '../task/task-spec.js'
import { Budget } from './budget.js'
import type { AdmissionLimits } from './limits.js'
import type { BlockedReason } from '../scheduler/blocked-reason.js'
import type { Changed, SchedulerFace } from './scheduler-face.js'
import { notBuilt } from './not-built.js'
import { checkCall } from './rules.js'
import { differences } from './same-spec.js'
import type { ScheduleAnswer, ScheduleCall } from './schedule-call.js'

export interface AdmissionParts {
  readonly store: TaskStore
  readonly scheduler: SchedulerFace
  readonly handlers: HandlerCatalogue
  readonly clock: Clock
  readonly limits: AdmissionLimits
  /** Makes the id of a task that came without one. Default UUIDv7. */
  readonly makeId?: (now: Instant) => string
}

/** A call that passed the rules, and its place among the answers. */
interface Admitted {
  readonly index: number
  readonly call: ScheduleCall
  /** With its id. */
  readonly spec: TaskSpec
}

/**
 * The door: what passes it is valid, stored, and known to the scheduler.
 *
 * @example const [answer] = await admission.schedule([call])
 */
export class Admission {
  readonly #store: TaskStore
  readonly #scheduler: SchedulerFace
  readonly #handlers: HandlerCatalogue
  readonly #clock: Clock
  readonly #limits: AdmissionLimits
  readonly #budget: Budget
  readonly #makeId: (now: Instant) => string

  constructor({ store, scheduler, handlers, clock, limits, makeId = newId }: AdmissionParts) {
    this.#store = store
    this.#scheduler = scheduler
    this.#handlers = handlers
    this.#clock = clock
    this.#limits = limits
    this.#budget = new Budget(store, clock, limits)
    this.#makeId = makeId
  }

  /**
   * Stores tasks: on disk once this resolves. Many are worked through in slices; the store keeps them in one transaction all the same.
   *
   * @returns one answer for each call, in order: a bad one spoils no other. The same id twice counts as two calls in order.
   */
  async schedule(calls: readonly ScheduleCall[]): Promise<readonly ScheduleAnswer[]> {
    if (this.#scheduler.snapshot().draining) return calls.map(draining)
    const answers: ScheduleAnswer[] = []
    let admitted: Admitted[] = []
    const now = this.#store.now()
    const slices = new Slices(this.#clock)
    let next = 0
    for (const call of calls) {
      const pause = slices.next()
      if (pause) await pause
      // most handlers check in the same turn: then the way of a task pays no promise
      const checking = this.#refusal(call, now)
      const refusal = checking instanceof Promise ? await checking : checking
      const index = next++
      if (refusal) answers[index] = refusal
      else if (call.spec.recurrence && !everRuns(call.spec, now))
        answers[index] = await this.#withoutRuns(call)
      else admitted.push({ index, call, spec: withId(call.spec, now, this.#makeId) })
    }
    const noRoom = this.#budget.check(admitted.length)
    const full = noRoom instanceof Promise ? await noRoom : noRoom
    if (full) {
      for (const one of admitted) answers[one.index] = full
      return answers
    }
    while (admitted.length > 0) {
      const [wave, rest] = beforeReplaced(admitted)
      await this.#keep(wave, answers, slices)
      admitted = rest
    }
    return answers
  }

  /** Cancels tasks. A waiting one never starts; a running one is told to stop and stopped by force after `graceMs`. */
  cancel(ids: readonly string[], graceMs: number): Changed {
    return this.#scheduler.cancel(ids, graceMs)
  }

  pause(ids: readonly string[]): Changed {
    return this.#scheduler.pause(ids)
  }

  resume(ids: readonly string[]): Changed {
    return this.#scheduler.resume(ids)
  }

  runNow(ids: readonly string[]): Changed {
    return this.#whileServing(ids, () => this.#scheduler.runNow(ids))
  }

  /** Runs tasks that have ended once more, with the spec that they had. */
  retry(ids: readonly string[]): Changed {
    return this.#whileServing(ids, () => this.#scheduler.retry(ids))
  }

  /** Why a task that is due does not start. */
  blockedReason(task: Task): BlockedReason | undefined {
    return this.#scheduler.blockedReason(task)
  }

  async #whileServing(ids: readonly string[], change: () => Changed): Changed {
    return this.#scheduler.snapshot().draining ? ids.map(draining) : change()
  }

  #refusal(
    call: ScheduleCall,
    now: Instant,
  ): SchedulerError | undefined | Promise<SchedulerError | undefined> {
    const { spec, violations } = call
    if (call.unknownFields.length > 0) return notBuilt(call.unknownFields)
    checkCall(call, this.#limits, now)
    const known = spec.handler === '' || this.#handlers.get(spec.handler) !== undefined
    if (violations.length > 0) {
      if (!known) violations.push(this.#unknownHandler(spec.handler))
      return new InvalidRequestError(violations)
    }
    if (!known) return new InvalidRequestError([this.#unknownHandler(spec.handler)], 'UNKNOWN_HANDLER')
    const found = this.#handlers.checkInput(spec.handler, spec.payload)
    const judge = (wrong: Awaited<typeof found>): SchedulerError | undefined =>
      wrong.length > 0 ? new InvalidRequestError(wrong) : undefined
    return found instanceof Promise ? found.then(judge) : judge(found)
  }

  /** A rule that has no run left is refused, unless it repeats a call that was accepted when it had. */
  async #withoutRuns(call: ScheduleCall): Promise<ScheduleAnswer> {
    const [task] = call.spec.id === '' ? [] : await this.#store.get([call.spec.id])
    if (task && call.onConflict !== 'replace') return settle({ kind: 'exists', task, logPosition: 0 }, call)
    return noRunLeft()
  }

  #unknownHandler(name: string): { field: string; description: string } {
    const names = this.#handlers.list().map((handler) => handler.name)
    const meant = nearestName(name, names)
    const hint = meant === undefined ? 'ListHandlers tells what it has' : `did you mean '${meant}'?`
    return {
      field: 'task.handler',
      description: `this server has no handler '${name.slice(0, 128)}': ${hint}`,
    }
  }

  /** Stores the tasks of calls, then settles those whose id was known. */
  async #keep(wave: readonly Admitted[], answers: ScheduleAnswer[], slices: Slices): Promise<void> {
    const now = this.#store.now()
    const requests: InsertRequest[] = []
    for (const { call, spec } of wave) {
      const pause = slices.next()
      if (pause) await pause
      const task = admit(spec, now, call.requestId)
      requests.push({ task, near: this.#scheduler.wantsNear(task.notBefore, spec.priority) })
    }
    const stored = await this.#store.insert(requests)
    this.#tell(requests, stored)
    const replacing: (Admitted & { answer: InsertAnswer })[] = []
    let i = 0
    for (const admitted of wave) {
      const { index, call } = admitted
      const answer = stored[i++]
      if (!answer) throw new Error(`the store gave ${stored.length} answers to ${wave.length} tasks`)
      if (answer.kind === 'exists' && call.onConflict === 'replace') replacing.push({ ...admitted, answer })
      else answers[index] = settle(answer, call)
    }
    if (replacing.length > 0) await this.#replace(replacing, answers)
  }

  /** Tells the scheduler of what is new. */
  #tell(requests: readonly InsertRequest[], stored: readonly InsertAnswer[]): void {
    const tasks: Task[] = []
    const near: boolean[] = []
    for (const [i, answer] of stored.entries()) {
      if (answer.kind !== 'created') continue
      tasks.push(answer.task)
      near.push(requests[i]?.near ?? false)
    }
    this.#budget.added(tasks.length)
    if (tasks.length > 0) this.#scheduler.accept(tasks, near)
  }

  async #replace(
    replacing: readonly (Admitted & { answer: InsertAnswer })[],
    answers: ScheduleAnswer[],
  ): Promise<void> {
    const tasks = await this.#scheduler.replace(
      replacing.map(({ call, spec }) => ({ spec, requestId: call.requestId })),
    )
    for (const [i, { index, answer }] of replacing.entries()) {
      const task = tasks[i]
      if (!task) throw new Error(`the scheduler gave ${tasks.length} answers to ${replacing.length} tasks`)
      answers[index] =
        task instanceof SchedulerError ? task : { task, created: false, logPosition: answer.logPosition }
    }
  }
}

/** The answer to a call whose task was stored, or whose id was known and is not to be replaced. */
function settle({ kind, task, logPosition }: InsertAnswer, call: ScheduleCall): ScheduleAnswer {
  if (kind === 'exists' && call.onConflict === 'sameSpec') {
    const different = differences(task.spec, call.spec)
    if (different.length > 0) return new TaskExistsError(task.spec.id, different.join(', '))
  }
  return { task, created: kind === 'created', logPosition }
}

/**
 * The calls that one insert can settle, and the rest: a call whose id an earlier one replaces must be compared with what that made of the task. The store itself
 * takes the same id twice in order.
 */
function beforeReplaced(admitted: Admitted[]): [Admitted[], Admitted[]] {
  const replaced = new Set<string>()
  let i = 0
  for (const { call, spec } of admitted) {
    if (call.onConflict === 'replace') replaced.add(spec.id)
    else if (replaced.has(spec.id)) return [admitted.slice(0, i), admitted.slice(i)]
    i++
  }
  return [admitted, []]
}

const withId = (spec: TaskSpec, now: Instant, makeId: (now: Instant) => string): TaskSpec =>
  spec.id === '' ? { ...spec, id: makeId(now) } : spec

const draining = (): SchedulerError =>
  new SchedulerError('DRAINING', 'the server is stopping: nothing of this call was stored', {}, 1_000)
