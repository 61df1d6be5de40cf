import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire'
import { Value } from '../../proto/generated/google/protobuf/struct.js'
import { OutputFormat, TaskResult } from '../../proto/generated/punctual/v1/result.js'
import type { LogEntry } from '../store/task-store.js'
import { asValue } from './json-value.js'
import { writeCommitted } from './result-codec.js'
import { WireWriter } from './wire-writer.js'

const OUTPUT_JSON_FIELD = 10
const OUTPUT_TAG = 74

/** Both keep their buffer; nothing is awaited while they hold something. */
const writer = new WireWriter()
const valueWriter = new BinaryWriter()

/**
 * Writes an entry of the log as the fields of a `punctual.v1.TaskResult`: the stored bytes as they are, what the commit gave appended. Only for a caller who wants Values is
 * the JSON output translated, the rest stays untouched.
 */
export function writeSendable(to: WireWriter, entry: LogEntry, format: OutputFormat): void {
  const output = format === OutputFormat.JSON ? undefined : findOutputJson(entry.bytes)
  const value = output && asValue(output.text)
  if (output && value) {
    to.raw(entry.bytes.subarray(0, output.start))
    to.int(OUTPUT_TAG).bytes(Value.encode(Value.wrap(value.json), valueWriter).finish())
    to.raw(entry.bytes.subarray(output.end))
  } else to.raw(entry.bytes)
  writeCommitted(to, entry)
}

/** The same as a message. */
export function sendableResult(entry: LogEntry, format: OutputFormat): TaskResult {
  try {
    writeSendable(writer, entry, format)
    return TaskResult.decode(writer.take())
  } finally {
    writer.clear()
  }
}

/** Where the field `output_json` stands in the stored bytes, and what it says. */
function findOutputJson(bytes: Uint8Array): { start: number; end: number; text: string } | undefined {
  const reader = new BinaryReader(bytes)
  while (reader.pos < reader.len) {
    const start = reader.pos
    const [field, wireType] = reader.tag()
    if (field === OUTPUT_JSON_FIELD) return { start, text: reader.string(), end: reader.pos }
    // fields are in order: what could come before it is short, and behind it there is no output
    if (field > OUTPUT_JSON_FIELD) return undefined
    reader.skip(wireType, field)
  }
  return undefined
}
