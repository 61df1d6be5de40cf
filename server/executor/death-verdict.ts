import { type AttemptOutcome, ERROR_CODES } from '../task/outcome.js'
import { failure } from './outcome-of.js'
import type { ThreadEnding } from './pool-errors.js'

/** What is known about the death of a thread. Rows are those of attempts whose handlers were running in it, lingering ones included. */
export interface Death {
  readonly ending: ThreadEnding
  /** `itself`; or we ended it, because its event loop stood still, or because an attempt that was given up did not end. */
  readonly why: 'itself' | 'blocked' | 'lingered'
  readonly running: readonly number[]
  /** Row whose code called `process.exit`; -1 = code of an attempt that had ended before; 0 = nobody did. */
  readonly exitedBy: number
  /** Row whose handler was being called and had not yet returned; 0 = none. */
  readonly inCall: number
}

/**
 * What a thread's death means for an attempt in it that had not been told to stop: the culprit has failed, the others were interrupted; where the culprit is
 * not known, all of them are suspects.
 */
export function verdictOn(row: number, death: Death): AttemptOutcome {
  const { code, message } = death.ending
  const culprit = culpritOf(death)
  if (culprit === row)
    return death.why === 'blocked'
      ? failure(
          ERROR_CODES.workerCrashed,
          'the handler blocked the event loop of its shared thread, which was stopped by force',
        )
      : failure(code, message)
  const reason = REASON[death.why](message)
  return culprit === undefined
    ? { kind: 'interrupted', reason, suspect: true }
    : { kind: 'interrupted', reason }
}

const REASON: Readonly<Record<Death['why'], (message: string) => string>> = {
  itself: (message) => `its worker thread ended: ${message}`,
  blocked: () => 'its shared thread was stopped by force: its event loop stood still',
  lingered: () => 'its shared thread was stopped by force: an attempt that had been told to stop did not end',
}

/** @returns the row at fault; -1 = none of these; undefined = not known. */
function culpritOf({ ending, why, running, exitedBy, inCall }: Death): number | undefined {
  if (why === 'lingered') return undefined
  if (why === 'itself' && ending.code === ERROR_CODES.workerExited && exitedBy !== 0) return exitedBy
  if (running.length === 1) return running[0]
  // Only a thread that stands still is surely held by the handler it is in: memory may have been filled by another.
  return why === 'blocked' && inCall !== 0 ? inCall : undefined
}
