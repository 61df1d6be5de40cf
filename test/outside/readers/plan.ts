import type { ResultFilter, TaskResult } from 'punctual'
import type { Random } from './random.js'

/** How one reader reads. */
export interface ReaderPlan {
  readonly name: string
  /**
   * `stream`: bare gRPC, resumed by the last cursor. `consumer`: bare gRPC, a durable consumer that acknowledges. `batches`, `loop`: the client, which resumes by itself, by its
   * cursor and as a durable consumer.
   */
  readonly kind: 'stream' | 'consumer' | 'batches' | 'loop'
  readonly filter: ResultFilter
  readonly includeAttempts: boolean
  readonly start: 'earliest' | 'latest' | 'since'
  /** When it begins, in ms after the first task. */
  readonly joinMs: number
  /** How long it takes for a message, at most. */
  readonly slowMs: number
  /** How often it drops its stream at a message, of a hundred. */
  readonly breaks: number
  /** Reads its first message, then nothing until retention has overtaken it. */
  readonly oversleeps: boolean
}

const FILTERS: readonly ResultFilter[] = [
  {},
  { handlers: ['work'] },
  { handlers: ['pause', 'unknown'] },
  { labels: { colour: 'red' } },
  { labels: { colour: 'blue' }, handlers: ['work'] },
  { outcomes: ['failed', 'cancelled'] },
  { taskIds: ['task-7', 'task-42', 'task-99', 'nobody'] },
  { taskIds: ['nobody'] },
]

export function readerPlan(index: number, random: Random): ReaderPlan {
  const kind = (['stream', 'consumer', 'batches', 'loop'] as const)[index % 4] ?? 'stream'
  const plan = {
    kind,
    filter: random.pick(FILTERS),
    includeAttempts: random.next() < 0.3,
    start: random.pick(['earliest', 'latest', 'since'] as const),
    joinMs: random.below(6_000),
    slowMs: random.pick([0, 0, 5, 50, 300]),
    // the loop shows that it goes on by itself: nobody takes it up again
    breaks: kind === 'loop' ? 0 : random.pick([0, 2, 10, 30]),
  }
  // only one that has a cursor of its own can: retention waits for consumers
  const oversleeps = index === 0 || index === 2
  const whole = oversleeps
    ? { ...plan, start: 'earliest' as const, joinMs: 0, oversleeps }
    : { ...plan, oversleeps }
  return { name: `${index}: ${JSON.stringify(whole)}`, ...whole }
}

/** Whether a reader of this plan is to get an entry: told apart from how the server filters. */
export function isFor({ filter, includeAttempts }: ReaderPlan, entry: TaskResult): boolean {
  const { taskIds, handlers, labels, outcomes } = filter
  return (
    (includeAttempts || entry.kind === 'result') &&
    (taskIds?.includes(entry.taskId) ?? true) &&
    (handlers?.includes(entry.handler) ?? true) &&
    (outcomes?.includes(entry.outcome) ?? true) &&
    Object.entries(labels ?? {}).every(([key, value]) => entry.labels[key] === value)
  )
}
