import { nextDueTime } from '../../server/task/next-due-time.js'
import { SchedulerWorld } from '../support/scheduler-world.js'
import { DAY } from '../support/series.js'
import { type GivenSpec, taskSpec } from '../support/task-specs.js'
import { Model } from './model.js'
import { type Plan, specOf, workOf } from './plan.js'
import { type Happening, planOf, type Scenario } from './scenario.js'
import { tell, type Told } from './told.js'

type Asked = Extract<Happening, { readonly pick: number }>

/** What one task has shown, beside what the model says of it. */
export interface Comparison {
  readonly id: string
  readonly results: readonly Told[]
  readonly starts: readonly string[]
  readonly state: string
}

/** A server on virtual time and a model of each of its tasks, to which the same things happen. */
export class Simulation {
  readonly world: SchedulerWorld
  readonly #scenario: Scenario
  readonly #plans: Plan[] = []
  readonly #models = new Map<string, Model>()
  /** Tasks that ran at another time than GetTask had said. */
  readonly #surprises: string[] = []

  constructor(scenario: Scenario) {
    this.#scenario = scenario
    const { startTime } = scenario
    const handlers = { work: workOf(this.#plans) }
    this.world = new SchedulerWorld({ startTime, handlers, slots: { thread: 1_000 } })
  }

  /** @returns what the server did, what the model expected, and what surprised a person who had asked when a task would run. */
  async run(): Promise<{ seen: Comparison[]; expected: Comparison[]; surprises: readonly string[] }> {
    await this.world.start()
    // while nothing is to come, a server need not notice that its clock was set
    await this.world.schedule({ id: 'far', when: { kind: 'after', delayMs: 3_650 * DAY } })
    for (const happening of this.#scenario.happenings) {
      await this.#happen(happening)
      this.#pass()
    }
    const ids = [...this.#models.keys()]
    return {
      seen: ids.map((id) => this.#seen(id)),
      expected: ids.map((id) => this.#expected(id)),
      surprises: this.#surprises,
    }
  }

  async #happen(happening: Happening): Promise<void> {
    const { clock } = this.world
    switch (happening.kind) {
      case 'schedule':
        return this.#schedule(happening.draft)
      case 'pass':
        return this.#passTime(happening.ms)
      case 'step':
        await clock.step(happening.ms)
        if (happening.ms < 0) for (const model of this.#models.values()) model.setBack(clock.now())
        return
      case 'down':
        return this.#goDown(happening)
      default:
        return this.#ask(happening)
    }
  }

  async #schedule(draft: Parameters<typeof planOf>[0]): Promise<void> {
    const { clock } = this.world
    const id = `task-${this.#models.size}`
    const plan = planOf(draft, id, clock.now())
    if (!plan) return
    this.#models.set(id, new Model(id, plan, clock.now(), clock.steady()))
    await this.world.schedule(this.#spec(id, plan))
  }

  async #goDown({ ms, stepMs }: { readonly ms: number; readonly stepMs: number }): Promise<void> {
    const { world } = this
    // After a crash, what ran is a suspect and waits for others: a clean stop cuts it off, and leaves it as it was.
    if (world.running.size === 0) world.crash()
    else await world.stop()
    for (const model of this.#models.values()) model.stop(world.clock.now())
    await world.clock.advance(ms)
    await world.clock.step(stepMs)
    this.#pass()
    await world.start()
    // what waits outside memory is pulled in beside the first calls: a call that comes before it finds the task as it was
    await world.clock.settle()
    for (const model of this.#models.values()) {
      model.isUp = true
      if (stepMs < 0) model.setBack(world.clock.now())
    }
  }

  async #ask(asked: Asked): Promise<void> {
    const id = [...this.#models.keys()][asked.pick % Math.max(1, this.#models.size)]
    const model = id !== undefined && this.#models.get(id)
    if (!model) return
    const { scheduler, clock } = this.world
    const now = clock.now()
    switch (asked.kind) {
      case 'cancel':
        model.cancel()
        await this.world.cancel(id)
        return
      case 'replace': {
        const plan = planOf(asked.draft, id, now)
        if (!plan) return
        model.replace(plan, now)
        await this.world.one(scheduler.replace([{ spec: taskSpec(this.#spec(id, plan)), requestId: '' }]))
        return
      }
      case 'pause':
      case 'resume':
      case 'runNow':
      case 'retry':
        model[asked.kind](now)
        await this.world.one(scheduler[asked.kind]([id]))
    }
  }

  #spec(id: string, plan: Plan): GivenSpec {
    return specOf(id, plan, this.#plans.push(plan) - 1)
  }

  /** Lets time pass, and compares when tasks run with when GetTask says that they will. */
  async #passTime(ms: number): Promise<void> {
    const { world } = this
    const now = world.clock.now()
    const waiting = [...this.#models.keys()].filter(
      (id) => world.task(id).state === 'scheduled' && !world.task(id).paused,
    )
    const shown = new Map(waiting.map((id) => [id, nextDueTime(world.task(id), now)]))
    const seen = world.starts.length
    await world.clock.advance(ms)
    for (const [id, due] of shown) {
      const start = world.starts.slice(seen).find((candidate) => candidate.id === id)
      const mustStart = due !== undefined && due > now && due <= now + ms
      if (start ? start.at !== due : mustStart)
        this.#surprises.push(`${id}: ${due} was said, ${start?.at} it was`)
    }
  }

  #pass(): void {
    const { clock } = this.world
    const steady = clock.steady()
    for (const model of this.#models.values()) model.pass(steady, clock.now() - steady)
  }

  #seen(id: string): Comparison {
    const { state } = this.world.task(id)
    return {
      id,
      results: this.world.results(id).map(tell),
      starts: this.world.startsOf(id).map(({ run, attempt, at }) => `run ${run} attempt ${attempt} at ${at}`),
      state: state === 'scheduled' ? 'waiting' : state,
    }
  }

  #expected(id: string): Comparison {
    const model = this.#models.get(id)
    if (!model) throw new Error(`no model of ${id}`)
    const { results, starts, state } = model
    return { id, results, starts, state }
  }
}
