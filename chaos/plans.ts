import type { TaskOptions } from '../client/index.js'
import type { Dice } from './dice.js'

/** What a task of the load is, and what must become of it if nobody cancels it. */
export interface TaskPlan {
  readonly kind: string
  readonly handler: string
  readonly input?: unknown
  readonly options: TaskOptions
  /** Outcomes that a run of it may have; skipped and cancelled ones come on top where they can. */
  readonly outcomes: readonly string[]
  /** Code that the error of a failed run must have. */
  readonly code?: string
}

const succeeds = ['succeeded'] as const
const QUICK_RETRY = { initialBackoffMs: 60, maxBackoffMs: 400 }
export const JITTER_RATIO = 0.2

type Maker = (dice: Dice) => TaskPlan

const makers: readonly { readonly weight: number; readonly item: Maker }[] = [
  {
    weight: 20,
    item: (dice) => ({
      kind: 'one-shot',
      handler: 'work',
      input: { ms: dice.int(0, 60) },
      options: { priority: dice.chance(0.3) ? dice.int(-100, 100) : 0 },
      outcomes: succeeds,
    }),
  },
  {
    weight: 20,
    item: (dice) => ({
      kind: 'delayed',
      handler: dice.pick(['work', 'shared', 'spin']),
      input: { ms: dice.int(0, 60) },
      options: dice.chance(0.5)
        ? { delayMs: dice.int(1, 6_000) }
        : { dueTime: new Date(Date.now() + dice.int(1, 6_000)) },
      outcomes: succeeds,
    }),
  },
  {
    weight: 8,
    item: (dice) => {
      const failures = dice.int(1, 4)
      return {
        kind: 'retried',
        handler: 'flaky',
        input: { failures },
        options: { retry: { ...QUICK_RETRY, maxAttempts: failures + 1, jitterRatio: JITTER_RATIO } },
        outcomes: succeeds,
      }
    },
  },
  {
    weight: 5,
    item: (dice) => ({
      kind: 'hopeless',
      handler: 'hopeless',
      options: { retry: { ...QUICK_RETRY, maxAttempts: dice.int(1, 4), jitterRatio: JITTER_RATIO } },
      outcomes: ['failed'],
      code: 'HOPELESS',
    }),
  },
  {
    // each takes a slot for its grace as well
    weight: 1.5,
    item: (dice) => ({
      kind: 'time-out',
      handler: dice.pick(['loop', 'deaf']),
      options: {
        attemptTimeoutMs: dice.int(80, 250),
        retry: { ...QUICK_RETRY, maxAttempts: dice.int(1, 2) },
      },
      outcomes: ['timedOut'],
    }),
  },
  {
    weight: 1,
    item: (dice) => ({
      kind: 'late answer',
      handler: 'late',
      input: { ms: dice.int(1_200, 2_500) },
      options: { attemptTimeoutMs: 50, retry: { ...QUICK_RETRY, maxAttempts: dice.int(1, 2) } },
      outcomes: ['timedOut'],
    }),
  },
  {
    weight: 8,
    item: (dice) => ({
      kind: 'keyed',
      handler: dice.pick(['work', 'shared', 'flaky']),
      input: { ms: dice.int(0, 80), failures: 1 },
      options: {
        concurrencyKey: `key ${dice.int(1, 4)}`,
        delayMs: dice.int(0, 2_000),
        priority: dice.int(-5, 5),
        retry: { ...QUICK_RETRY, maxAttempts: 3 },
      },
      outcomes: succeeds,
    }),
  },
  {
    weight: 5,
    item: (dice) => ({
      kind: 'limited',
      handler: 'limited',
      input: { ms: dice.int(0, 80) },
      options: { delayMs: dice.int(0, 1_000) },
      outcomes: succeeds,
    }),
  },
  {
    weight: 6,
    item: (dice) => ({
      kind: 'at most once',
      handler: 'work',
      input: { ms: dice.int(0, 120) },
      options: { atMostOnce: true, delayMs: dice.int(0, 2_000) },
      outcomes: ['succeeded', 'failed'],
      code: 'INTERRUPTED',
    }),
  },
  {
    weight: 4,
    item: (dice) => ({
      kind: 'start within',
      handler: 'work',
      input: { ms: 10 },
      options: { startWithinMs: dice.int(50, 500), delayMs: dice.int(0, 3_000) },
      outcomes: ['succeeded', 'expired'],
    }),
  },
  { weight: 6, item: recurring },
  {
    weight: 3,
    item: (dice) => ({
      kind: 'thread killed',
      handler: 'exit',
      input: { code: dice.int(0, 1) },
      options: { retry: { ...QUICK_RETRY, maxAttempts: dice.int(1, 2) } },
      outcomes: ['failed'],
      code: 'WORKER_EXITED',
    }),
  },
  {
    weight: 1,
    item: () => ({
      kind: 'output that cannot be stored',
      handler: 'unstorable',
      options: {},
      outcomes: ['failed'],
      code: 'OUTPUT_NOT_STORABLE',
    }),
  },
  {
    weight: 3,
    item: (dice) => ({
      kind: 'stray and flood',
      handler: dice.pick(['stray', 'flood']),
      options: {},
      outcomes: succeeds,
    }),
  },
  {
    weight: 0.7,
    item: () => ({
      kind: 'out of memory',
      handler: 'memory',
      options: {},
      outcomes: ['failed'],
      code: 'OUT_OF_MEMORY',
    }),
  },
]

/** One that takes the server down whenever it runs. */
export const KILLER: TaskPlan = {
  kind: 'server killer',
  handler: 'killer',
  options: {},
  outcomes: ['failed'],
  code: 'INTERRUPTED',
}

/** A task of any kind. */
export const anyPlan = (dice: Dice): TaskPlan => dice.draw(makers)(dice)

function recurring(dice: Dice): TaskPlan {
  const maxRuns = dice.int(2, 8)
  const overlap = dice.pick(['skip', 'queueOne'] as const)
  const missed = dice.pick(['runOnce', 'runAll', 'skip'] as const)
  const recurrence = dice.pick([
    { everyMs: dice.int(100, 700), maxRuns, overlap, missed },
    { everyMs: dice.int(100, 700), maxRuns, overlap, missed, jitterMs: 20 },
    { cron: '* * * * * *', maxRuns: Math.min(4, maxRuns), overlap, missed },
    { minIntervalMs: dice.int(100, 500), maxRuns },
    { delayAfterMs: dice.int(100, 500), maxRuns },
  ])
  return {
    kind: 'recurring',
    handler: dice.pick(['work', 'shared']),
    input: { ms: dice.int(0, 250) },
    options: { recurrence, ...(dice.chance(0.3) && { delayMs: dice.int(0, 1_000) }) },
    outcomes: succeeds,
  }
}
