import type { LogEntry } from '../store/task-store.js'
import type { TaskResult } from '../task/result.js'
import { CANCEL_STAGES, OUTCOMES, RESULT_KINDS, SKIP_REASONS } from './translate-enums.js'
import { WireWriter } from './wire-writer.js'

const writer = new WireWriter()

/**
 * The bytes of a `punctual.v1.TaskResult` without `sequence` and `commit_time`, which only the commit gives; a JSON output stays text. Encoded once, for the log and for
 * the wire: the order of a message's fields is free, so the rest is appended when it is sent.
 *
 * By hand, because it is paid for each result; `test/rpc` compares with generated code.
 */
export function encodeResult(result: TaskResult): Uint8Array {
  try {
    writeResult(result)
    return writer.take()
  } catch (error) {
    writer.clear()
    throw error
  }
}

/** Tags as in result.proto. */
function writeResult(result: TaskResult): void {
  writer.int(16).int(RESULT_KINDS[result.kind])
  text(26, result.taskId)
  text(34, result.handler)
  count(40, result.run)
  count(48, result.attempts)
  count(56, result.interruptions)
  writer.int(64).int(OUTCOMES[result.outcome])
  const { output, error } = result
  // a payload is there even when it is empty
  if (output.kind === 'json') writer.int(82).text(output.text)
  else if (output.kind === 'bytes') writer.int(90).bytes(output.bytes)
  if (error) {
    writer.int(98).fork()
    text(10, error.code)
    text(18, error.message)
    text(26, error.stack)
    text(34, error.name)
    text(42, error.cause)
    writer.join()
  }
  writer.int(106).instant(result.dueTime)
  if (result.startTimeUs > 0) writer.int(114).timestamp(result.startTimeUs)
  if (result.endTimeUs > 0) writer.int(122).timestamp(result.endTimeUs)
  text(138, result.workerId)
  for (const key in result.labels) {
    writer.int(146).fork()
    text(10, key)
    text(18, result.labels[key] ?? '')
    writer.join()
  }
  text(154, result.traceId)
  text(162, result.origin)
  if (result.last) writer.int(168).bool(true)
  if (result.skipReason) writer.int(176).int(SKIP_REASONS[result.skipReason])
  count(184, result.skippedCount)
  if (result.cancelStage) writer.int(192).int(CANCEL_STAGES[result.cancelStage])
  if (result.manual) writer.int(200).bool(true)
}

/** Appends what the commit gave to the stored bytes of an entry. */
export function writeCommitted(to: WireWriter, entry: LogEntry): void {
  to.int(8).int(entry.position)
  to.int(130).instant(entry.commitTime)
}

function text(tag: number, value: string): void {
  if (value !== '') writer.int(tag).text(value)
}

function count(tag: number, value: number): void {
  if (value !== 0) writer.int(tag).int(value)
}
