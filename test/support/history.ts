import * as fc from 'fast-check'
import { SchedulerError, StoreUnavailableError } from '../../server/task/errors.js'
import type { Task } from '../../server/task/task.js'
import { failure } from './outcomes.js'
import { SchedulerWorld, type Work } from './scheduler-world.js'
import type { GivenSpec } from './task-specs.js'

const schedule = fc.record({
  kind: fc.constant('schedule' as const),
  delayMs: fc.integer({ min: 0, max: 400 }),
  handler: fc.constantFrom('quick', 'slow', 'fails', 'deaf', 'shared', 'few'),
  concurrencyKey: fc.constantFrom('', '', 'a', 'b'),
  maxAttempts: fc.integer({ min: 1, max: 3 }),
  priority: fc.integer({ min: -2, max: 2 }),
  attemptTimeoutMs: fc.constantFrom(0, 40),
  startWithinMs: fc.constantFrom(undefined, undefined, 60),
  atMostOnce: fc.boolean(),
})
const ask = fc.record({
  kind: fc.constantFrom(
    ...(['cancel', 'cancel', 'cancel', 'pause', 'resume', 'runNow', 'retry', 'replace'] as const),
  ),
  /** Chooses one of the tasks so far. */
  pick: fc.nat(99),
  graceMs: fc.nat(30),
})
const fault = fc.record({
  kind: fc.constantFrom('crash' as const, 'stop' as const, 'trouble' as const),
  ms: fc.nat(300),
})
const step = fc.record({ kind: fc.constant('step' as const), ms: fc.integer({ min: -500, max: 500 }) })
const pass = fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(120) })

/** What can happen to a server, or be asked of it. */
export const events = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: schedule },
    { weight: 6, arbitrary: ask },
    { weight: 8, arbitrary: pass },
    { weight: 3, arbitrary: fault },
    { weight: 1, arbitrary: step },
  ),
  { maxLength: 40 },
)
export type HistoryEvent = typeof events extends fc.Arbitrary<(infer T)[]> ? T : never
type Asked = Extract<HistoryEvent, { readonly pick: number }>

const HANDLERS: Readonly<Record<string, Work>> = {
  quick: () => 1,
  slow: (_, { sleep }) => sleep(50),
  fails: () => failure(),
  deaf: (_, { sleep }) => sleep(60).catch(() => new Promise(() => {})),
  shared: (_, { sleep }) => sleep(30).catch(() => 1),
  few: (_, { sleep }) => sleep(20),
}

/** A server to which things happen, and what can be seen of it from outside. Its memory is so small that tasks come and go. */
export class History {
  readonly world: SchedulerWorld
  readonly tasks: Task[] = []
  /** Cancelled by their last change. */
  readonly cancelled = new Set<string>()
  /** Retried after their end or replaced: these may have several runs. */
  readonly reopened = new Set<string>()
  /** Attempts that ran beside another of their task or key, or before they were due. */
  readonly faults: string[] = []
  /** The latest that the wall clock has ever read. */
  #latest = 0

  constructor(commitMs: number) {
    const handlers = Object.entries(HANDLERS).map(([name, work]) => [name, this.#watched(work)] as const)
    this.world = new SchedulerWorld({
      handlers: Object.fromEntries(handlers),
      handlerInfo: { shared: { lane: 'shared' }, few: { maxConcurrent: 1 } },
      slots: { thread: 2, shared: 3 },
      commitMs,
      scheduler: { capacity: 8, windowMs: 150, staleMs: 10, startIdBlock: 10 },
    })
  }

  async happen(event: HistoryEvent): Promise<void> {
    const { world } = this
    switch (event.kind) {
      case 'schedule':
        return this.#schedule(event)
      case 'pass':
        return world.clock.advance(event.ms)
      case 'crash':
        world.crash()
        await world.clock.advance(event.ms)
        return world.start()
      case 'stop':
        await world.stop(event.ms)
        return world.start()
      case 'trouble':
        world.store.trouble = new StoreUnavailableError('full')
        await world.clock.advance(event.ms)
        world.store.trouble = undefined
        return
      case 'step':
        this.#seeTime()
        return world.clock.step(event.ms)
      case 'cancel':
      case 'pause':
      case 'resume':
      case 'runNow':
      case 'retry':
      case 'replace':
        return this.#ask(event)
    }
  }

  async #schedule(event: Extract<HistoryEvent, { readonly kind: 'schedule' }>): Promise<void> {
    const { delayMs, maxAttempts, startWithinMs, atMostOnce } = event
    const spec: GivenSpec = {
      handler: event.handler,
      priority: event.priority,
      concurrencyKey: event.concurrencyKey,
      attemptTimeoutMs: event.attemptTimeoutMs,
      atMostOnce,
      when: { kind: 'after', delayMs },
      retry: { maxAttempts: atMostOnce ? 1 : maxAttempts, initialBackoffMs: 20 },
      ...(startWithinMs !== undefined && { startWithinMs }),
    }
    this.tasks.push(...(await this.world.scheduleAll([spec])))
  }

  async #ask(event: Asked): Promise<void> {
    const task = this.tasks[event.pick % Math.max(1, this.tasks.length)]
    if (!task) return
    const { id } = task.spec
    const answer = await this.world.one(this.#answers(task, event))
    if (answer instanceof SchedulerError) return
    if (event.kind === 'cancel') this.cancelled.add(id)
    else this.cancelled.delete(id)
    if (event.kind === 'retry' || event.kind === 'replace') this.reopened.add(id)
  }

  #answers({ spec }: Task, { kind, graceMs }: Asked): Promise<readonly (Task | SchedulerError)[]> {
    const { scheduler } = this.world
    if (kind === 'cancel') return scheduler.cancel([spec.id], graceMs)
    if (kind !== 'replace') return scheduler[kind]([spec.id])
    return scheduler.replace([{ spec: { ...spec, when: { kind: 'after', delayMs: 30 } }, requestId: '' }])
  }

  #watched(work: Work): Work {
    return (request, context) => {
      const { taskId } = request
      const task = this.world.task(taskId)
      const running = [...this.world.running.values()]
      this.#seeTime()
      if (running.filter((id) => id === taskId).length > 1) this.faults.push(`${taskId} beside itself`)
      if (task.notBefore > this.#latest) this.faults.push(`${taskId} early`)
      const { concurrencyKey } = task.spec
      const sameKey = running.filter((id) => this.world.task(id).spec.concurrencyKey === concurrencyKey)
      if (concurrencyKey !== '' && sameKey.length > 1) this.faults.push(`${taskId} beside its key`)
      return work(request, context)
    }
  }

  /** A burst may begin just after the wall clock was set back: what counts is that it was due when it was decided. */
  #seeTime(): void {
    this.#latest = Math.max(this.#latest, this.world.clock.now())
  }
}
