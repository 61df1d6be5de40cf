import { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import { Position, type StreamResultsRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { LogStart } from '../results/result-log.js'
import type { LogFilter } from '../store/task-store.js'
import { InvalidRequestError, type Violation } from '../task/errors.js'
import { checkChoice } from './translate-enums.js'
import { checkConsumer, toLogFilter } from './translate-filter.js'
import { toInstant, toMs } from './translate-time.js'

const DEFAULT_HEARTBEAT_MS = 15_000
const MIN_HEARTBEAT_MS = 100
const MAX_HEARTBEAT_MS = 600_000

/** What a caller of StreamResults wants, complete. */
export interface StreamWish {
  readonly filter: LogFilter
  readonly start: LogStart
  readonly stopWhenCaughtUp: boolean
  readonly heartbeatMs: number
  readonly format: OutputFormat
  /** The durable consumer that it reads for. */
  readonly consumer?: { readonly name: string; readonly lossy: boolean }
}

/** @throws InvalidRequestError with every violation at once. */
export function toStreamWish(request: StreamResultsRequest): StreamWish {
  const found: Violation[] = []
  const wish = {
    filter: toLogFilter(request.filter, request.includeAttempts, found),
    start: toStart(request.start, found),
    stopWhenCaughtUp: request.stopWhenCaughtUp,
    heartbeatMs: toHeartbeat(request, found),
    format: request.outputFormat,
    ...toConsumer(request, found),
  }
  checkChoice(OutputFormat, request.outputFormat, 'output_format', found)
  if (found.length > 0) throw new InvalidRequestError(found, 'INVALID_REQUEST')
  return wish
}

function toStart(start: StreamResultsRequest['start'], found: Violation[]): LogStart {
  if (start === undefined) return { kind: 'latest' }
  if (start.$case === 'afterCursor') return { kind: 'after', cursor: start.value }
  if (start.$case === 'since') return { kind: 'since', time: toInstant(start.value, 'since', found) ?? 0 }
  if (start.value === Position.EARLIEST) return { kind: 'earliest' }
  if (start.value !== Position.LATEST && start.value !== Position.UNSPECIFIED) {
    const description = `${start.value} is no value that this server knows: EARLIEST or LATEST`
    found.push({ field: 'position', description })
  }
  return { kind: 'latest' }
}

function toHeartbeat({ heartbeatInterval }: StreamResultsRequest, found: Violation[]): number {
  if (!heartbeatInterval) return DEFAULT_HEARTBEAT_MS
  const ms = toMs(heartbeatInterval, 'heartbeat_interval', found)
  if (ms === undefined) return DEFAULT_HEARTBEAT_MS
  if (ms < MIN_HEARTBEAT_MS || ms > MAX_HEARTBEAT_MS) {
    found.push({ field: 'heartbeat_interval', description: 'must be from 100 ms to 10 min' })
  }
  return ms
}

function toConsumer(
  { consumer, lossy }: StreamResultsRequest,
  found: Violation[],
): Pick<StreamWish, 'consumer'> {
  if (consumer !== '') {
    checkConsumer(consumer, 'consumer', found)
    return { consumer: { name: consumer, lossy } }
  }
  if (lossy) found.push({ field: 'lossy', description: 'is about a consumer: name one, or leave it out' })
  return {}
}
