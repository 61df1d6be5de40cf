import {
  OnConflict,
  type ScheduleAnswer,
  type ScheduleRequest,
  SchedulerServiceService as service,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import type { CallScope } from './call-scope.js'
import { inContextOf, type ScheduleSpan } from './client-tracing.js'
import type { Connection } from './connection.js'
import { fromItemError, PunctualError } from './errors.js'
import type { AwaitedTask, Mark } from './shared-results.js'
import { toDate } from './wire-time.js'

/** A task that the server has stored, or had stored before. */
export interface Stored extends AwaitedTask {
  /** The server had no task of this id. */
  readonly created: boolean
  /** This call put a new spec in its place. */
  readonly replaced: boolean
  readonly dueTime?: Date
}

/** What sending needs of its client. */
export interface SendParts {
  readonly connection: Connection
  readonly mark: () => Mark
  readonly spanOf: (request: ScheduleRequest) => ScheduleSpan | undefined
}

/** Sends requests in one call: as `Schedule` when there is one, else as `ScheduleBatch`. One answer for each, in order. */
export async function sendRequests(
  { connection, mark, spanOf }: SendParts,
  requests: readonly ScheduleRequest[],
  deadlineMs: number,
  scope: CallScope,
): Promise<readonly (Stored | PunctualError)[]> {
  const spans = requests.flatMap((request) => spanOf(request) ?? [])
  const [first, second] = requests
  if (first === undefined) return []
  const sent = mark()
  if (second === undefined) {
    const { task, created, cursor } = await inContextOf(spans, requests.length, () =>
      connection.call(service.schedule, first, deadlineMs, scope),
    )
    const id = task?.spec?.id ?? first.task?.id ?? ''
    return [stored(first, { id, created, dueTime: task?.dueTime, cursor }, { sent, answered: mark() })]
  }
  const { answers, cursor } = await inContextOf(spans, requests.length, () =>
    connection.call(service.scheduleBatch, { requests: [...requests] }, deadlineMs, scope),
  )
  const marks = { sent, answered: mark() }
  return requests.map((request, index) => {
    const answer = answers[index]
    if (answer === undefined)
      return new PunctualError({ message: 'the server left a task of a batch without an answer' })
    if (answer.error !== undefined) return fromItemError(answer.error)
    return stored(request, { ...answer, cursor: answer.cursor === '' ? cursor : answer.cursor }, marks)
  })
}

function stored(
  request: ScheduleRequest,
  { id, created, dueTime, cursor }: Pick<ScheduleAnswer, 'id' | 'created' | 'dueTime' | 'cursor'>,
  marks: { readonly sent: Mark; readonly answered: Mark },
): Stored {
  return {
    id: id === '' ? (request.task?.id ?? '') : id,
    created,
    replaced: !created && request.onConflict === OnConflict.REPLACE,
    recurs: request.task?.recurrence !== undefined,
    cursor,
    ...(dueTime && { dueTime: toDate(dueTime) }),
    ...marks,
  }
}
