import { type Attributes, type Span, SpanStatusCode } from '@opentelemetry/api'
import type { AttemptEnd, AttemptRequest, Lane } from '../executor/executor.js'
import { type AttemptOutcome, ERROR_CODES } from '../task/outcome.js'
import type { AttemptNote } from '../task/span-record.js'
import { addRecorded, hrTimeOf, linkOf } from './span-form.js'

/** What a span says of an attempt that begins: ids and times, never what the task carries. Names: the messaging conventions, where they fit. */
export function attemptAttributes(
  request: AttemptRequest,
  lane: Lane,
  startTimeUs: number,
  workerId: string,
): Attributes {
  return {
    'messaging.system.name': 'punctual',
    'messaging.operation.name': 'run',
    'messaging.operation.type': 'process',
    'messaging.destination.name': request.handler,
    'messaging.message.id': request.taskId,
    'punctual.task.id': request.taskId,
    'punctual.run': request.run,
    'punctual.attempt': request.attempt,
    'punctual.lane': lane,
    'punctual.due_time': new Date(request.dueTime).toISOString(),
    'punctual.wait_ms': startTimeUs / 1_000 - request.notBefore,
    'thread.name': workerId,
  }
}

/** Ends the span of an attempt. A cancelled one did what was asked: no error. */
export function describeEnd(span: Span, { outcome, endTimeUs }: AttemptEnd): void {
  const endTime = hrTimeOf(endTimeUs)
  span.setAttribute('punctual.outcome', outcome.kind)
  if (outcome.kind === 'failed') {
    const { name, message, stack } = outcome.error
    span.addEvent(
      'exception',
      { 'exception.type': name, 'exception.message': message, 'exception.stacktrace': stack },
      endTime,
    )
  }
  if (outcome.kind === 'timedOut' || outcome.kind === 'cancelled')
    span.setAttribute('punctual.stop_stage', outcome.stage)
  const error = errorOf(outcome)
  if (error) {
    span.setAttribute('error.type', error.type)
    span.setStatus({ code: SpanStatusCode.ERROR, message: error.message })
  }
  span.end(endTime)
}

/** Adds to an attempt's span what its handler noted in the thread. */
export function addNote(span: Span, note: AttemptNote): void {
  span.setAttributes(note.attributes as Attributes)
  span.addLinks(note.links.map(linkOf))
  // A handler that said ok may still fail or be stopped, and ok would be final.
  addRecorded(span, note.status.code === 1 ? { ...note, status: { code: 0, message: '' } } : note)
}

function errorOf(outcome: AttemptOutcome): { type: string; message: string } | undefined {
  if (outcome.kind === 'failed') return { type: outcome.error.code, message: outcome.error.message }
  if (outcome.kind === 'timedOut')
    return { type: ERROR_CODES.timedOut, message: 'the attempt took longer than its time-out' }
  if (outcome.kind === 'interrupted') return { type: ERROR_CODES.interrupted, message: outcome.reason }
  return undefined
}
