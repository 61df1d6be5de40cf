import type { Instant } from './instant.js'
import { stateAfter } from './lifecycle.js'
import { logEntry } from './log-entry.js'
import { type AttemptError, ERROR_CODES } from './outcome.js'
import type { Transition } from './result.js'
import { endRun } from './run-end.js'
import type { Task } from './task.js'

/** Deaths under suspicion after which a task runs in quarantine. */
const SUSPICIONS_TO_QUARANTINE = 2
/** Deaths alone in quarantine after which a task is given up. */
const SOLO_DEATHS_TO_FAIL = 3

export interface Interruption {
  /** For people: what cut it off. */
  readonly reason: string
  /** A server or shared thread died under it, and nobody knows whose fault that was. */
  readonly suspect: boolean
  /** It was the only suspect that ran: this death counts. */
  readonly alone: boolean
  /** Microseconds since 1970; when it was noticed, if nobody saw it end. */
  readonly endTimeUs: number
  readonly workerId: string
}

/** From the second death under suspicion on, a task runs in quarantine: one suspect at a time, on a thread of its own. */
export const isQuarantined = (task: Task): boolean => task.suspicions >= SUSPICIONS_TO_QUARANTINE

/**
 * The running attempt was cut off: it runs again at once and is not counted, with three exceptions: a task that was to be cancelled is cancelled, an
 * at-most-once task has failed, and so has one that took a server down three times while no other suspect ran.
 */
export function interrupted(task: Task, how: Interruption, now: Instant): Transition {
  const cutOff: Task = {
    ...task,
    interruptions: task.interruptions + 1,
    suspicions: task.suspicions + (how.suspect ? 1 : 0),
    soloDeaths: task.soloDeaths + (how.suspect && how.alone && isQuarantined(task) ? 1 : 0),
  }
  const facts = {
    startTimeUs: task.startTimeUs,
    endTimeUs: Math.max(task.startTimeUs, how.endTimeUs),
    workerId: how.workerId,
  }
  if (task.cancelRequested) {
    return endRun(cutOff, 'cancelled', { ...facts, outcome: 'cancelled', cancelStage: 'terminated' }, now)
  }
  const error = interruptionError(how.reason)
  if (task.spec.atMostOnce || cutOff.soloDeaths >= SOLO_DEATHS_TO_FAIL) {
    return endRun({ ...cutOff, lastError: error }, 'failed', { ...facts, outcome: 'failed', error }, now)
  }
  const state = stateAfter(task.state, 'interrupted')
  // its place in the order stays: it goes on where it was cut off, even if the wall clock was set back meanwhile
  const notBefore = Math.min(task.notBefore, now)
  return {
    task: { ...cutOff, state, notBefore, startTimeUs: 0, lastError: error },
    entries: [logEntry('attempt', cutOff, { ...facts, outcome: 'failed', error })],
  }
}

function interruptionError(reason: string): AttemptError {
  return {
    code: ERROR_CODES.interrupted,
    message: `the attempt was cut off: ${reason}`,
    stack: '',
    name: 'Interrupted',
    cause: '',
  }
}
