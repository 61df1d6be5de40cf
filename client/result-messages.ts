import { OutputFormat } from '../proto/generated/punctual/v1/result.js'
import {
  StreamResultsRequest,
  type StreamResultsResponse,
} from '../proto/generated/punctual/v1/scheduler_service.js'
import type { CallScope } from './call-scope.js'
import type { Connection } from './connection.js'
import { isWorthResuming, PunctualError, UnavailableError } from './errors.js'
import type { CompleteOptions } from './options.js'
import { backoffMs, pause, STREAM_BACKOFF } from './retrying.js'
import { StreamCall } from './stream-call.js'
import { toDuration } from './wire-time.js'

/** A stream that is silent for this many heartbeats is broken. */
const SILENT_HEARTBEATS = 3

/** A server that is away may come back; one that answers the same fault every time has a bug, which nobody would see behind endless tries. */
const FAULTS_IN_A_ROW = 10

/** What a reader of the log needs. */
export interface MessageSource {
  readonly connection: Pick<Connection, 'stream' | 'abandoner'>
  readonly options: Pick<
    CompleteOptions,
    'clock' | 'random' | 'heartbeatMs' | 'deadlineMs' | 'retry' | 'onBreak'
  >
}

/** What to read, and what to do around it. */
export interface Reading {
  readonly request: Partial<StreamResultsRequest>
  readonly scope: CallScope
  /** Awaited before the stream is opened again, with everything that was read before handed out and finished. */
  readonly beforeResume?: () => Promise<void>
  /** Never give up, also before the first message. */
  readonly patient?: boolean
}

/**
 * The messages of `StreamResults`, heartbeats included, over as many calls as it takes: after a break it goes on after the last cursor, so
 * that nothing is skipped and nothing comes twice. Until the first message has come it gives up after the deadline of a call; later never.
 * Leaving the loop ends the call at the server.
 */
export async function* resultMessages(
  { connection, options }: MessageSource,
  { request, scope, beforeResume, patient }: Reading,
): AsyncGenerator<StreamResultsResponse, void, void> {
  const { clock, heartbeatMs } = options
  const base = StreamResultsRequest.create({})
  Object.assign(base, request)
  base.outputFormat = OutputFormat.JSON
  base.heartbeatInterval = toDuration(heartbeatMs, 'heartbeatMs')
  const giveUpAt = patient === true ? Infinity : clock.steady() + options.deadlineMs
  let cursor: string | undefined
  let failures = 0
  for (;;) {
    let broken: PunctualError
    let call: StreamCall<StreamResultsResponse> | undefined
    let forget: (() => void) | undefined
    try {
      if (cursor !== undefined) await beforeResume?.()
      scope.throwIfEnded()
      const start = cursor === undefined ? base.start : { $case: 'afterCursor' as const, value: cursor }
      const silenceMs = heartbeatMs * SILENT_HEARTBEATS
      const abandon = connection.abandoner()
      call = new StreamCall(connection.stream({ ...base, start }), clock, silenceMs, abandon)
      forget = scope.onEnd(() => call?.cancel())
      let proofs = 0
      for (;;) {
        const message = await call.next(scope)
        if (message === undefined) break
        cursor = message.cursor
        // the first message only proves that the server can be reached, a second that it stays
        if (++proofs > 1 || message.results.length > 0) failures = 0
        yield message
      }
      if (base.stopWhenCaughtUp) return
      broken = new UnavailableError({ code: 'UNAVAILABLE', message: 'the server ended the stream' })
    } catch (error) {
      if (!(error instanceof PunctualError && isWorthResuming(error))) throw error
      if (!options.retry && cursor === undefined) throw error
      broken = error
    } finally {
      forget?.()
      call?.cancel()
    }
    failures++
    if (failures >= FAULTS_IN_A_ROW && !(broken instanceof UnavailableError)) throw broken
    const waitMs = backoffMs(STREAM_BACKOFF, failures, options.random(), broken.retryAfterMs)
    if (cursor === undefined && clock.steady() + waitMs >= giveUpAt) throw broken
    options.onBreak(broken)
    await pause(clock, waitMs, scope)
  }
}
