import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { OutputFormat } from '../../proto/generated/punctual/v1/result.js'
import type { LogEntry } from '../store/task-store.js'
import { writeSendable } from './sendable-result.js'

/** Keeps its buffer from message to message; nothing is awaited between its first byte and `finish`. */
const writer = new BinaryWriter()

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
      writer.uint32(10).fork()
      writeSendable(writer, entry, format)
      writer.join()
    }
    writer.uint32(18).string(state.cursor)
    if (state.caughtUp) writer.uint32(24).bool(true)
    return writer.uint32(34).string(state.logId).finish()
  } catch (error) {
    writer.finish()
    throw error
  }
}
