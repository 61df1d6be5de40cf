import { nextSlot, type Slot } from '../../server/task/recurrence/slots.js'
import type { TaskResult } from '../../server/task/result.js'
import { isLive } from '../../server/task/task.js'
import { SchedulerError } from '../../server/task/errors.js'
import { SchedulerWorld, type Work } from '../support/scheduler-world.js'
import { taskSpec } from '../support/task-specs.js'
import { type Plan, specOf, workOf } from './plan.js'
import { type Happening, planOf, type Scenario } from './scenario.js'

/** What was asked for under an id, and whether it is still the first thing that was. */
interface Asked {
  readonly plan: Plan
  readonly firstSlot: number | undefined
  isAltered: boolean
  cancelled: boolean
}

/**
 * A server whose tasks get in each other's way: two slots, shared keys, a memory for a few tasks, commits that take time, crashes in the middle of things.
 * The wall clock is set forward only. What every task must keep to whatever happens is checked from outside.
 */
export class Crowd {
  readonly world: SchedulerWorld
  /** What was seen and must not be. */
  readonly faults: string[] = []
  readonly #plans: Plan[] = []
  readonly #asked = new Map<string, Asked>()

  constructor({ startTime }: Scenario, commitMs: number) {
    const handlers = { work: this.#watched(workOf(this.#plans)) }
    this.world = new SchedulerWorld({
      startTime,
      commitMs,
      handlers,
      slots: { thread: 2 },
      scheduler: { capacity: 4, windowMs: 60_000, staleMs: 60_000, startIdBlock: 5 },
    })
  }

  async run({ happenings }: Scenario): Promise<void> {
    await this.world.start()
    for (const happening of happenings) await this.#happen(happening)
    for (const id of this.#asked.keys()) this.#judge(id)
  }

  async #happen(happening: Happening): Promise<void> {
    const { world } = this
    switch (happening.kind) {
      case 'schedule':
        return this.#schedule(happening.draft)
      case 'pass':
        return world.clock.advance(happening.ms)
      case 'step':
        return world.clock.step(Math.abs(happening.ms))
      case 'down':
        if (happening.stepMs === 0) world.crash()
        else await world.stop(100)
        await world.clock.advance(happening.ms)
        await world.clock.step(Math.abs(happening.stepMs))
        return world.start()
      default:
        return this.#ask(happening)
    }
  }

  async #schedule(draft: Parameters<typeof planOf>[0]): Promise<void> {
    const id = `task-${this.#asked.size}`
    const plan = planOf(draft, id, this.world.clock.now())
    if (!plan) return
    const task = await this.world.schedule(this.#spec(id, plan))
    const { series } = task
    this.#asked.set(id, { plan, firstSlot: series?.firstDue, isAltered: false, cancelled: false })
  }

  /** Some tasks share a key. */
  #spec(id: string, plan: Plan) {
    const concurrencyKey = id.endsWith('1') || id.endsWith('3') ? 'shared' : ''
    return { ...specOf(id, plan, this.#plans.push(plan) - 1), concurrencyKey }
  }

  async #ask(happening: Extract<Happening, { readonly pick: number }>): Promise<void> {
    const { world } = this
    const ids = [...this.#asked.keys()]
    const id = ids[happening.pick % Math.max(1, ids.length)]
    const asked = id !== undefined && this.#asked.get(id)
    if (!asked) return
    const { scheduler } = world
    if (happening.kind === 'replace') {
      const plan = planOf(happening.draft, id, world.clock.now())
      if (!plan) return
      asked.isAltered = true
      asked.cancelled = false
      await world.one(scheduler.replace([{ spec: taskSpec(this.#spec(id, plan)), requestId: '' }]))
    } else if (happening.kind === 'cancel') {
      const answer = await world.cancel(id)
      asked.cancelled ||= !(answer instanceof SchedulerError) && answer.state === 'cancelled'
    } else {
      // a run that was being cancelled may end while the retry is on its way
      const sawEnd = (): boolean => world.results(id).some(({ last }) => last)
      if (happening.kind === 'retry' && sawEnd()) asked.cancelled = false
      await world.one(scheduler[happening.kind]([id]))
      if (happening.kind === 'retry') asked.isAltered ||= sawEnd()
    }
  }

  #watched(work: Work): Work {
    return (request, context) => {
      const { taskId } = request
      const beside = [...this.world.running.values()].filter((id) => id === taskId)
      if (beside.length > 1) this.faults.push(`${taskId} ran beside itself`)
      if (request.notBefore > this.world.clock.now()) this.faults.push(`${taskId} ran early`)
      if (this.#asked.get(taskId)?.cancelled) this.faults.push(`${taskId} ran after its cancel`)
      return work(request, context)
    }
  }

  #judge(id: string): void {
    const { world } = this
    const task = world.task(id)
    const results = world.results(id)
    const asked = this.#asked.get(id)
    const runs = results.map(({ run }) => run).join()
    if (runs !== results.map((_, i) => i + 1).join())
      this.faults.push(`${id} has the results of runs ${runs}`)
    if (!asked || asked.isAltered) return
    const isOver = !isLive(task.state)
    if (isOver !== (results.at(-1)?.last ?? false))
      this.faults.push(`${id} is ${task.state}, and ${isOver ? 'no' : 'a'} result is its last`)
    const { recurrence } = asked.plan
    if (!recurrence) return
    const started = results.filter(({ attempts, manual }) => attempts > 0 && !manual)
    if (started.length > (recurrence.maxRuns ?? Infinity)) this.faults.push(`${id} ran too often`)
    if (results.some(({ dueTime, manual }) => !manual && dueTime > (recurrence.until ?? Infinity)))
      this.faults.push(`${id} ran after its end`)
    if (recurrence.kind === 'cron' || recurrence.kind === 'every') this.#judgeSlots(id, asked, results)
    else this.#judgeDistances(id, asked, results)
  }

  /** Each slot has exactly one result: a run of its own, or its share in a skipped stretch. */
  #judgeSlots(id: string, { plan, firstSlot = 0 }: Asked, results: readonly TaskResult[]): void {
    const { recurrence } = plan
    if (!recurrence) return
    const rhythm = { id, firstDue: firstSlot }
    const newest = Math.max(...results.map(({ dueTime }) => dueTime))
    const slots: Slot[] = []
    for (let next = nextSlot(recurrence, rhythm, { slot: firstSlot - 1 }); next && next.due <= newest; ) {
      slots.push(next)
      next = nextSlot(recurrence, rhythm, { slot: next.slot })
    }
    const leftOut = slots.filter(({ mark }) => mark === 'skipped')
    // the slot that waits when a task is cancelled may be one that would have been left out
    const isLeftOut = ({ outcome, skipReason, dueTime }: TaskResult): boolean =>
      outcome === 'skipped' ? skipReason === 'dstGap' : leftOut.some(({ due }) => due === dueTime)
    const ofRhythm = results.filter(({ manual }) => !manual)
    const kinds = [
      {
        own: slots.filter(({ mark }) => mark !== 'skipped'),
        told: ofRhythm.filter((result) => !isLeftOut(result)),
      },
      { own: leftOut, told: ofRhythm.filter(isLeftOut) },
    ]
    for (const { own, told } of kinds) {
      let place = 0
      for (const { run, outcome, skippedCount, dueTime } of told) {
        place += outcome === 'skipped' ? skippedCount : 1
        if (own[place - 1]?.due !== dueTime) {
          this.faults.push(
            `${id}: run ${run}, due ${dueTime}, is not that of slot ${place} of ${own.length}, due ${own[place - 1]?.due}`,
          )
          return
        }
      }
    }
  }

  #judgeDistances(id: string, { plan }: Asked, results: readonly TaskResult[]): void {
    const { recurrence } = plan
    const started = results.filter(({ startTimeUs }) => startTimeUs > 0)
    for (const [i, { run, endTimeUs, startTimeUs }] of started.entries()) {
      const after = started[i + 1]
      if (!after || after.manual) continue
      const first = this.world.startsOf(id).find((start) => start.run === after.run)
      const [from, distance] =
        recurrence?.kind === 'delayAfter'
          ? [endTimeUs, recurrence.delayMs]
          : [startTimeUs, recurrence?.kind === 'minInterval' ? recurrence.intervalMs : 0]
      if ((first?.at ?? Infinity) < from / 1_000 + distance)
        this.faults.push(`${id}: run ${after.run} is too near to run ${run}`)
    }
  }
}
