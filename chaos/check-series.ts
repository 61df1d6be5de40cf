import type { TaskResult } from '../client/index.js'
import type { Entry } from './book.js'

/** Every slot of a grid between the first and the last is accounted for, and as many runs started as were asked for. */
export function checkSeries(
  { plan, mayBeCancelled }: Entry,
  results: readonly TaskResult[],
): string | undefined {
  const { recurrence } = plan.options
  const [first] = results
  if (!recurrence || !first) return undefined
  const started = results.filter(({ outcome, startTime }) => outcome !== 'skipped' && startTime !== undefined)
  if (!mayBeCancelled && recurrence.maxRuns !== started.length)
    return `${started.length} runs started, asked for ${recurrence.maxRuns}`
  const intervalMs = 'everyMs' in recurrence ? recurrence.everyMs : 'cron' in recurrence ? 1_000 : undefined
  if (intervalMs === undefined) return spacing(recurrence as Spaced, started)
  return slots(results, intervalMs, recurrence.jitterMs ?? 0)
}

function slots(results: readonly TaskResult[], intervalMs: number, jitterMs: number): string | undefined {
  let last: number | undefined
  for (const result of results) {
    const due = result.dueTime.getTime()
    const stands = result.outcome === 'skipped' ? result.skippedCount : 1
    if (last !== undefined) {
      // jitter moves both ends, by less than half an interval
      const passed = Math.round((due - last) / intervalMs)
      if (Math.abs(due - last - passed * intervalMs) > jitterMs)
        return `run ${result.run} is due beside the grid, ${due - last} ms after the one before`
      if (passed !== stands) return `run ${result.run} stands for ${stands} slots, but ${passed} have passed`
    }
    last = due
  }
  return undefined
}

interface Spaced {
  readonly minIntervalMs?: number
  readonly delayAfterMs?: number
}

function spacing(recurrence: Spaced, runs: readonly TaskResult[]): string | undefined {
  for (const [i, { run, startTime, latenessMs = 0 }] of runs.entries()) {
    const before = runs[i - 1]
    if (!before || !startTime) continue
    const from = recurrence.delayAfterMs === undefined ? before.startTime : before.endTime
    const least = recurrence.delayAfterMs ?? recurrence.minIntervalMs ?? 0
    const passed = startTime.getTime() - (from?.getTime() ?? 0)
    if (passed < least - 1 || latenessMs < 0) return `run ${run} started ${passed} ms after the one before`
  }
  return undefined
}
