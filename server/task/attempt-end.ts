import type { Instant } from './instant.js'
import { interrupted } from './interruption.js'
import { stateAfter } from './lifecycle.js'
import { type AttemptEnding, type EntryFacts, logEntry, traceOf } from './log-entry.js'
import { type AttemptError, type AttemptOutcome, ERROR_CODES } from './outcome.js'
import type { Transition } from './result.js'
import { backoffMs } from './retry.js'
import { endRun } from './run-end.js'
import type { Task } from './task.js'

/**
 * The running attempt ended. A requested cancel decides the outcome, whatever the handler still returned; else a success or a final failure ends the run, and
 * a failure with attempts left is retried after its back-off.
 *
 * @param random - In [0, 1): where in the jitter band the back-off falls.
 */
export function ended(task: Task, ending: AttemptEnding, now: Instant, random: number): Transition {
  const { outcome, startTimeUs, workerId } = ending
  // readings of two threads: an attempt never ends before it began
  const endTimeUs = Math.max(startTimeUs, ending.endTimeUs)
  const traceId = traceOf(task, ending)
  if (task.cancelRequested) {
    const cancelStage = stageOf(outcome)
    const facts = { outcome: 'cancelled', startTimeUs, endTimeUs, workerId, traceId, cancelStage } as const
    return endRun(task, 'cancelled', facts, now)
  }
  switch (outcome.kind) {
    case 'succeeded': {
      const { output } = outcome
      const facts = { outcome: 'succeeded', output, startTimeUs, endTimeUs, workerId, traceId } as const
      return endRun(withoutError(task), 'succeeded', facts, now)
    }
    case 'failed': {
      const { error } = outcome
      const facts = { outcome: 'failed', error, startTimeUs, endTimeUs, workerId, traceId } as const
      return failed(task, facts, outcome.retryable, now, random)
    }
    case 'timedOut': {
      const error = timeOutError(task)
      const facts = { outcome: 'timedOut', error, startTimeUs, endTimeUs, workerId, traceId } as const
      return failed(task, facts, true, now, random)
    }
    case 'cancelled':
      // stopped, though nobody cancelled it: the stop outlived a cancel that could not be stored
      return interrupted(
        task,
        { endTimeUs, workerId, reason: 'it was stopped', suspect: false, alone: false },
        now,
      )
    case 'interrupted': {
      const { reason, suspect = false } = outcome
      return interrupted(task, { endTimeUs, workerId, reason, suspect, alone: false }, now)
    }
  }
}

type Failure = EntryFacts & { readonly error: AttemptError }

function failed(task: Task, failure: Failure, retryable: boolean, now: Instant, random: number): Transition {
  const { retry } = task.spec
  const known = { ...task, lastError: failure.error }
  const counted = task.attempts - task.interruptions
  const again =
    retryable && counted < retry.maxAttempts && !retry.nonRetryableCodes.includes(failure.error.code)
  if (!again) return endRun(known, 'failed', failure, now)
  return {
    task: {
      ...known,
      state: stateAfter(task.state, 'willRetry'),
      notBefore: now + backoffMs(retry, counted, random),
      startTimeUs: 0,
    },
    entries: [logEntry('attempt', task, failure)],
  }
}

/** How far a cancelled attempt had come: one that ended by itself was not stopped by force. */
function stageOf(outcome: AttemptOutcome): 'neverStarted' | 'cooperative' | 'terminated' {
  if (outcome.kind === 'cancelled' || outcome.kind === 'timedOut') return outcome.stage
  return outcome.kind === 'interrupted' ? 'terminated' : 'cooperative'
}

function timeOutError({ spec }: Task): AttemptError {
  return {
    code: ERROR_CODES.timedOut,
    message: `the attempt took longer than its attempt_timeout of ${spec.attemptTimeoutMs} ms`,
    stack: '',
    name: 'TimedOut',
    cause: '',
  }
}

function withoutError(task: Task): Task {
  if (task.lastError === undefined) return task
  const { lastError: _, ...rest } = task
  return rest
}
