import type { TaskResult } from '../../client/index.js'
import { fit, printable } from '../printable.js'
import { showDuration } from '../relative-time.js'
import type { Terminal } from '../terminal.js'
import { colouredWord } from './coloured-word.js'

/** Every outcome is as wide as this, so that the columns after it stand below each other. */
const OUTCOME_WIDTH = 9

/** A result on one line, no wider than the terminal if that is wide enough for its facts. */
export function resultLine(result: TaskResult, terminal: Terminal): string {
  const { colours } = terminal
  const time = result.endTime.toISOString()
  const facts = [
    printable(result.handler),
    printable(result.taskId),
    ...(result.last && result.run === 1 ? [] : [`run ${result.run}`]),
    ...(result.kind === 'attempt' ? [`attempt ${result.attempts}`] : []),
    // a retry is not late: it had to wait
    ...(result.latenessMs === undefined || result.attempts > 1
      ? []
      : [`late ${showDuration(result.latenessMs)}`]),
    ...(result.durationMs === undefined ? [] : [`took ${showDuration(result.durationMs)}`]),
  ].join('  ')
  const width = time.length + OUTCOME_WIDTH + facts.length + 6
  const what = fit(printable(whatCame(result)), Math.max(20, terminal.columns - width))
  const padding = ' '.repeat(Math.max(0, OUTCOME_WIDTH - result.outcome.length))
  const outcome = `${colouredWord(colours, result.outcome)}${padding}`
  return [colours.dim(time), outcome, facts, ...(what === '' ? [] : [colours.dim(what)])].join('  ')
}

/** What a result brought: its output, its error, or why there was none. */
function whatCame(result: TaskResult): string {
  switch (result.outcome) {
    case 'succeeded':
      if (result.output instanceof Uint8Array) return `${result.output.byteLength} bytes`
      return result.output === undefined ? '' : JSON.stringify(result.output)
    case 'failed':
    case 'timedOut':
      return result.error === undefined ? '' : `${result.error.code}: ${result.error.message}`
    case 'cancelled':
      return {
        neverStarted: 'before it started',
        cooperative: 'it stopped when told',
        terminated: 'stopped by force',
      }[result.cancelStage]
    case 'expired':
      return 'it could not start in time'
    case 'skipped':
      return `${result.skippedCount} ${result.skippedCount === 1 ? 'slot' : 'slots'}: ${result.skipReason}`
  }
}
