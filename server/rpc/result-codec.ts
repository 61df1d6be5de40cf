import { BinaryWriter } from '@bufbuild/protobuf/wire'
import type { LogEntry } from '../store/task-store.js'
import type { TaskResult } from '../task/result.js'
import { CANCEL_STAGES, OUTCOMES, RESULT_KINDS, SKIP_REASONS } from './translate-enums.js'

/**
 * One writer for all: it keeps its buffer, which a new one would grow again for each of the many results a second. Nothing is awaited between its first byte and `finish`.
 */
const writer = new BinaryWriter()

/**
 * The bytes of a `punctual.v1.TaskResult` without `sequence` and `commit_time`, which only the commit gives; a JSON output stays text. Encoded once, for the log and for
 * the wire: the order of a message's fields is free, so the rest is appended when it is sent.
 *
 * By hand, because it is paid for each result; `test/rpc` compares with generated code.
 */
export function encodeResult(result: TaskResult): Uint8Array {
  try {
    return writeResult(result).finish()
  } catch (error) {
    writer.finish()
    throw error
  }
}

/** Tags are field number × 8 + wire type, as in result.proto. */
function writeResult(result: TaskResult): BinaryWriter {
  writer.uint32(16).uint32(RESULT_KINDS[result.kind])
  text(26, result.taskId)
  text(34, result.handler)
  count(40, result.run)
  count(48, result.attempts)
  count(56, result.interruptions)
  writer.uint32(64).uint32(OUTCOMES[result.outcome])
  const { output, error } = result
  // a payload is there even when it is empty
  if (output.kind === 'json') writer.uint32(82).string(output.text)
  else if (output.kind === 'bytes') writer.uint32(90).bytes(output.bytes)
  if (error) {
    writer.uint32(98).fork()
    text(10, error.code)
    text(18, error.message)
    text(26, error.stack)
    text(34, error.name)
    text(42, error.cause)
    writer.join()
  }
  time(106, result.dueTime * 1_000)
  if (result.startTimeUs > 0) time(114, result.startTimeUs)
  if (result.endTimeUs > 0) time(122, result.endTimeUs)
  text(138, result.workerId)
  for (const key in result.labels) {
    writer.uint32(146).fork()
    text(10, key)
    text(18, result.labels[key] ?? '')
    writer.join()
  }
  text(154, result.traceId)
  text(162, result.origin)
  if (result.last) writer.uint32(168).bool(true)
  if (result.skipReason) writer.uint32(176).uint32(SKIP_REASONS[result.skipReason])
  count(184, result.skippedCount)
  if (result.cancelStage) writer.uint32(192).uint32(CANCEL_STAGES[result.cancelStage])
  if (result.manual) writer.uint32(200).bool(true)
  return writer
}

/** Appends what the commit gave to the stored bytes of an entry. */
export function writeCommitted(to: BinaryWriter, entry: LogEntry): void {
  to.uint32(8)
  varint(to, entry.position)
  to.uint32(130)
  timestamp(to, entry.commitTime * 1_000)
}

function text(tag: number, value: string): void {
  if (value !== '') writer.uint32(tag).string(value)
}

function count(tag: number, value: number): void {
  if (value === 0) return
  writer.uint32(tag)
  varint(writer, value)
}

function time(tag: number, micros: number): void {
  writer.uint32(tag)
  timestamp(writer, micros)
}

function timestamp(to: BinaryWriter, micros: number): void {
  const seconds = Math.floor(micros / 1_000_000)
  const nanos = (micros - seconds * 1_000_000) * 1_000
  to.fork()
  if (seconds !== 0) {
    to.uint32(8)
    varint(to, seconds)
  }
  if (nanos !== 0) to.uint32(16).uint32(nanos)
  to.join()
}

/** A number that fits 32 bits is the same on the wire as a 64-bit one, and needs no bigint. */
function varint(to: BinaryWriter, value: number): void {
  if (value >= 0 && value < 2 ** 32) to.uint32(value)
  else to.int64(BigInt(value))
}
