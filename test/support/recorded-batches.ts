import { type CallScope, CallScopes } from '../../client/call-scope.js'
import { Coalescer } from '../../client/coalescer.js'
import { type PunctualError, ServerFullError, UnavailableError } from '../../client/errors.js'
import { ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { ManualClock } from './manual-clock.js'

const DEADLINE_MS = 10_000

/** A batch that a coalescer has sent. */
export interface SentBatch {
  readonly ids: string[]
  readonly deadlineMs: number
  readonly scope: CallScope
  answer(answers?: readonly (string | PunctualError)[]): void
  fail(error: Error): void
}

/** A coalescer whose batches a test answers. */
export function startCoalescer({ deadlineMs = DEADLINE_MS } = {}) {
  const clock = new ManualClock()
  const scopes = new CallScopes()
  const batches: SentBatch[] = []
  const watchers: (() => void)[] = []
  const coalescer = new Coalescer<string>(
    (requests, ms, scope) =>
      scope.step((resolve, reject) => {
        const ids = requests.map(({ task }) => task?.id ?? '')
        batches.push({
          ids,
          deadlineMs: ms,
          scope,
          answer: (answers = ids.map((id) => `${id} stored`)) => resolve(answers),
          fail: reject,
        })
        for (const watcher of watchers.splice(0)) watcher()
        return () => {}
      }),
    scopes,
    // the upper end of the back-off
    { clock, random: () => 1, mayRetry: () => true },
  )
  const add = (id: string, options: { deadlineMs?: number; signal?: AbortSignal; json?: string } = {}) => {
    const task = TaskSpec.create({ id, handler: 'echo' })
    if (options.json !== undefined) task.payload = { $case: 'inputJson', value: options.json }
    const request = ScheduleRequest.create({})
    request.task = task
    return coalescer.add(request, options.deadlineMs ?? deadlineMs, options.signal)
  }
  const batch = async (n: number): Promise<SentBatch> => {
    for (;;) {
      const sent = batches[n - 1]
      if (sent !== undefined) return sent
      await new Promise<void>((resolve) => watchers.push(resolve))
    }
  }
  return { clock, scopes, batches, add, batch }
}

/** Nobody can be reached. */
export const unavailable = () => new UnavailableError({ code: 'UNAVAILABLE', message: 'connection refused' })

/** The server has no room, and says when to come back. */
export const full = (retryAfterMs: number) =>
  new ServerFullError({
    code: 'RESOURCE_EXHAUSTED',
    reason: 'TOO_MANY_TASKS',
    message: 'too many tasks wait',
    retryAfterMs,
  })

/** Everything that could happen without time or input has happened. */
export const settled = () => new Promise<void>((resolve) => setImmediate(resolve))
