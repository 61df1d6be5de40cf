import { ItemError } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { FIXED_LIMITS } from '../admission/limits.js'
import type { ScheduleAnswer, ScheduleCall } from '../admission/schedule-call.js'
import type { Slices } from '../clock/slices.js'
import type { LogPosition } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import { toItemError } from './status.js'
import { STATES } from './translate-enums.js'
import { WireWriter } from './wire-writer.js'

/** What became of a batch of calls. */
export interface BatchAnswers {
  readonly calls: readonly ScheduleCall[]
  /** One for each call, in order. */
  readonly answers: readonly ScheduleAnswer[]
  /** Where the log ends. */
  readonly latest: LogPosition
  readonly cursorOf: (position: LogPosition) => string
}

const writer = new WireWriter()

/** The bytes of a `punctual.v1.ScheduleBatchResponse`, written in slices. By hand, because it is paid for each task; `test/rpc` reads it with generated code. */
export async function encodeBatchAnswers(
  { calls, answers, latest, cursorOf }: BatchAnswers,
  slices: Slices,
): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  const position = before(answers, latest)
  try {
    for (let i = 0; i < answers.length; i++) {
      const pause = slices.next()
      if (pause) {
        // others write meanwhile
        parts.push(writer.take())
        await pause
      }
      const answer = answers[i]
      if (answer === undefined) throw new Error(`${answers.length} answers, and none at ${i}`)
      writer.int(10).fork()
      if (answer instanceof SchedulerError) writeError(answer, calls[i]?.spec.id ?? '')
      else {
        const { task, created, logPosition } = answer
        writer.int(10).text(task.spec.id)
        if (created) writer.int(16).bool(true)
        writer.int(24).int(STATES[task.state])
        writer.int(34).instant(task.dueTime)
        // results come after the batch's cursor too unless the task was there before
        if (logPosition < position) writer.int(42).text(cursorOf(logPosition))
      }
      writer.join()
    }
    writer.int(18).text(cursorOf(position))
    parts.push(writer.take())
  } catch (error) {
    writer.clear()
    throw error
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}

/** Results of every task that was created come after it. */
function before(answers: readonly ScheduleAnswer[], latest: LogPosition): LogPosition {
  let position = latest
  for (const answer of answers)
    if (!(answer instanceof SchedulerError) && answer.created)
      position = Math.min(position, answer.logPosition)
  return position
}

function writeError(error: SchedulerError, id: string): void {
  // a refused id may be of any length
  if (id !== '') writer.int(10).text(id.slice(0, FIXED_LIMITS.maxIdChars))
  writer.int(50).bytes(ItemError.encode(toItemError(error)).finish())
}
