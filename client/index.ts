/** The client of Punctual: `import { createClient } from 'punctual'`. */
export { MAX_DEADLINE_MS } from './client-clock.js'
export * from './punctual-error.js'
export type { ListOptions, TaskFilter } from './list-tasks.js'
export type { CallOptions, ClientOptions, TlsOptions, WaitOptions } from './options.js'
export type { PreviewedDueTime, Recurrence, RecurrenceRule } from './recurrence.js'
export type { ResultBatch, ResultFilter, ResultOptions, ResultStream } from './result-stream.js'
export type { RetryPolicy, ScheduleOptions, TaskOptions } from './schedule-options.js'
export { createClient, type SchedulerClient } from './scheduler-client.js'
export type { ConsumerInfo, HandlerInfo, LatencyStats, ServerInfo, ServerStats } from './stats.js'
export type { CancelOptions, TaskHandle } from './task-handle.js'
export type { TaskInfo, TaskState } from './task-info.js'
export type {
  AttemptFailure,
  Cancelled,
  Expired,
  Failed,
  NotSucceeded,
  ResultFacts,
  ResultOutcome,
  Skipped,
  Succeeded,
  TaskResult,
} from './task-result.js'
export type { SelectedTask, SelectionReport, TaskSelection } from './task-selection.js'
export type {
  AnyHandlers,
  InputOf,
  OutputOf,
  ResultOf,
  ScheduleArguments,
  TaskRequest,
} from './typed-handlers.js'
