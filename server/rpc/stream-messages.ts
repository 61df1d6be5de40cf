import type { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import type { LogEntry } from '../store/task-store.js'
import { writeSendable } from './sendable-result.js'
import { WireWriter } from './wire-writer.js'

const writer = new WireWriter()

/** What goes with the entries of a message. */
export interface StreamState {
  readonly cursor: string
  readonly caughtUp: boolean
  readonly logId: string
}

/**
 * The bytes of a `punctual.v1.StreamResultsResponse`, put together from the bytes in the log: a result is encoded once, when it is stored, and never again for any reader.
 *
 * @param format - How JSON outputs are sent.
 */
export function streamMessage(
  entries: readonly LogEntry[],
  state: StreamState,
  format: OutputFormat,
): Uint8Array {
  try {
    for (const entry of entries) {
      writer.int(10).fork()
      writeSendable(writer, entry, format)
      writer.join()
    }
    writer.int(18).text(state.cursor)
    if (state.caughtUp) writer.int(24).bool(true)
    return writer.int(34).text(state.logId).take()
  } catch (error) {
    writer.clear()
    throw error
  }
}
