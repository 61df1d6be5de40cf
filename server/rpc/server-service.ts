import { DstMark } from '../../proto/generated/punctual/v1/scheduler_service.js'
import type * as wire from '../../proto/generated/punctual/v1/scheduler_service.js'
import type { Clock } from '../clock.js'
import type { HandlerCatalogue, HandlerInfo } from '../handlers/catalogue.js'
import type { ResultLog } from '../results/result-log.js'
import { overview, type OverviewParts } from '../stats/overview.js'
import { InvalidRequestError, type Violation } from '../task/errors.js'
import { preview } from '../task/recurrence/preview.js'
import type { SlotMark } from '../task/recurrence/recurrence.js'
import type { ConsumerService } from './consumer-service.js'
import type { ResultStreaming } from './result-streaming.js'
import { toRecurrence } from './translate-recurrence.js'
import { fromOverview } from './translate-stats.js'
import { fromInstant, toInstant } from './translate-time.js'

const DEFAULT_PREVIEW = 10
const MAX_PREVIEW = 1_000

const MARKS = {
  normal: DstMark.NORMAL,
  shifted: DstMark.SHIFTED,
  skipped: DstMark.SKIPPED,
  doubled: DstMark.DOUBLED,
} as const satisfies Record<SlotMark, DstMark>

/** What a server says of itself. */
export interface ServerInfo {
  readonly version: string
  /** By name. */
  readonly limits: Readonly<Record<string, number>>
  readonly features: readonly string[]
}

export interface ServerServiceParts {
  readonly handlers: HandlerCatalogue
  readonly log: ResultLog
  readonly streaming: ResultStreaming
  readonly consumers: ConsumerService
  readonly stats: OverviewParts
  readonly clock: Clock
  readonly info: ServerInfo
}

/** The calls about the server: what it can run, how it does, what a recurrence means. */
export class ServerService {
  readonly #parts: ServerServiceParts

  constructor(parts: ServerServiceParts) {
    this.#parts = parts
  }

  listHandlers(): wire.ListHandlersResponse {
    return { handlers: this.#parts.handlers.list().map(fromHandler) }
  }

  async getStats(): Promise<wire.GetStatsResponse> {
    const { log, streaming, consumers, stats } = this.#parts
    return {
      ...fromOverview(await overview(stats), (position) => log.cursor(position)),
      consumers: consumers.list(),
      openStreams: BigInt(streaming.open),
    }
  }

  getServerInfo(): wire.GetServerInfoResponse {
    const { info, clock, log } = this.#parts
    const limits = Object.entries(info.limits).map(([name, limit]) => [name, BigInt(limit)] as const)
    return {
      version: info.version,
      serverTime: fromInstant(clock.now()),
      limits: Object.fromEntries(limits),
      features: [...info.features],
      logId: log.logId,
    }
  }

  previewRecurrence(request: wire.PreviewRecurrenceRequest): wire.PreviewRecurrenceResponse {
    const found: Violation[] = []
    const { count, taskId } = request
    if (count < 0 || count > MAX_PREVIEW) {
      found.push({ field: 'count', description: `must be from 1 to ${MAX_PREVIEW}, got ${count}` })
    }
    if (!request.recurrence) found.push({ field: 'recurrence', description: 'is required' })
    const from = request.from && toInstant(request.from, 'from', found)
    const recurrence = request.recurrence && toRecurrence(request.recurrence, 'recurrence', found)
    if (!recurrence || found.length > 0) throw new InvalidRequestError(found, 'INVALID_REQUEST')
    const entries = preview(recurrence, {
      ...(taskId !== '' && { id: taskId }),
      from: from ?? this.#parts.clock.now(),
      count: count || DEFAULT_PREVIEW,
    })
    return {
      dueTimes: entries.map(({ due, localTime, mark }) => ({
        dueTime: fromInstant(due),
        localTime,
        mark: MARKS[mark],
      })),
    }
  }
}

function fromHandler(handler: HandlerInfo): wire.Handler {
  const { name, description, lane, inputSchema, outputSchema, maxConcurrent } = handler
  return {
    name,
    description,
    lane,
    inputSchema: plain(inputSchema),
    outputSchema: plain(outputSchema),
    maxConcurrent,
  }
}

/** A schema library may put more than JSON into a schema: only JSON can be sent. */
function plain(schema: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> | undefined {
  return schema && (JSON.parse(JSON.stringify(schema)) as Record<string, unknown>)
}
