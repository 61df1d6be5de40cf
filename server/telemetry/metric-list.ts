/** A metric that the server has. Attributes take few values: never an id, a key, a label or the text of an error. */
export interface MetricInfo {
  readonly name: string
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** As in UCUM: `s` seconds, `By` bytes, `{task}` a count of tasks, `1` a yes (1) or no (0). */
  readonly unit: string
  readonly description: string
  readonly attributes: readonly string[]
}

/** Every metric of the server. The one list: instruments are made from it, and `docs/telemetry.md` is held to it. */
export const METRICS = {
  tasksScheduled: counter('punctual.tasks.scheduled', '{task}', 'Tasks accepted and stored', ['handler']),
  results: counter('punctual.results', '{run}', 'Runs that ended, by outcome', ['handler', 'outcome']),
  slotsSkipped: counter(
    'punctual.recurrence.slots.skipped',
    '{slot}',
    'Slots of a rhythm that were skipped: overlap, missed, paused or dstGap',
    ['handler', 'reason'],
  ),
  attempts: counter('punctual.attempts', '{attempt}', 'Attempts that ended, by outcome', ['outcome']),
  lateness: histogram(
    'punctual.run.lateness',
    'From the due time of a run to the start of its first attempt',
    ['handler'],
  ),
  attemptWait: histogram(
    'punctual.attempt.wait',
    'From handing an attempt to the executor to the start of its handler',
    ['lane'],
  ),
  attemptDuration: histogram('punctual.attempt.duration', 'From the start of a handler to its end', [
    'handler',
  ]),
  commitDuration: histogram(
    'punctual.store.commit.duration',
    'From a write to the store until it is on disk: insert, start or update',
    ['operation'],
  ),
  slots: gauge('punctual.slots', '{slot}', 'Attempts that may run at once', ['lane']),
  slotsBusy: gauge('punctual.slots.busy', '{slot}', 'Attempts that run', ['lane']),
  tasks: gauge('punctual.tasks', '{task}', 'Stored tasks, by state', ['state']),
  tasksDue: gauge('punctual.tasks.due', '{task}', 'Tasks that are due and wait for a slot'),
  tasksNear: gauge('punctual.tasks.near', '{task}', 'Tasks in memory: due within the window'),
  draining: gauge('punctual.draining', '1', 'Whether the server drains: it accepts and starts nothing'),
  storeSize: gauge('punctual.store.size', 'By', 'Size of the store on disk'),
  storeAvailable: gauge('punctual.store.available', '1', 'Whether the last write to the store went well'),
  logEntries: gauge('punctual.log.entries', '{entry}', 'Entries kept in the result log'),
  streams: gauge('punctual.streams', '{stream}', 'Result streams that are open'),
  resultsSent: counter('punctual.results.sent', '{result}', 'Results sent on streams'),
  consumers: gauge('punctual.consumers', '{consumer}', 'Durable consumers'),
  consumerLag: gauge(
    'punctual.consumer.lag',
    '{result}',
    'Results that a durable consumer has not acknowledged; of the first 50 by name',
    ['consumer'],
  ),
  consumerMaxLag: gauge(
    'punctual.consumers.lag.max',
    '{result}',
    'Results that the durable consumer furthest behind has not acknowledged',
  ),
  watchdogFindings: counter('punctual.watchdog.findings', '{finding}', 'What the watchdog found, by kind', [
    'kind',
  ]),
  loopDelayP50: gauge(
    'nodejs.eventloop.delay.p50',
    's',
    'Median delay of the event loop since the last look',
  ),
  loopDelayP99: gauge('nodejs.eventloop.delay.p99', 's', '99th percentile of the event loop’s delay'),
  loopDelayMax: gauge(
    'nodejs.eventloop.delay.max',
    's',
    'Longest delay of the event loop since the last look',
  ),
} as const satisfies Record<string, MetricInfo>

/** Boundaries of every histogram, in seconds: from half a millisecond, where lateness is good, to a minute. */
export const DURATION_BUCKETS_S = [0.0005, 0.001, 0.002, 0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 15, 60]

function counter(
  name: string,
  unit: string,
  description: string,
  attributes: readonly string[] = [],
): MetricInfo {
  return { name, kind: 'counter', unit, description, attributes }
}

function gauge(
  name: string,
  unit: string,
  description: string,
  attributes: readonly string[] = [],
): MetricInfo {
  return { name, kind: 'gauge', unit, description, attributes }
}

function histogram(name: string, description: string, attributes: readonly string[]): MetricInfo {
  return { name, kind: 'histogram', unit: 's', description, attributes }
}
