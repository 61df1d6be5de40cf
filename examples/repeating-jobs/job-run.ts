import type { TaskResult } from 'punctual'

/** One run of a job that started. Times are milliseconds since the round began. */
export interface JobRun {
  /** How many seconds it takes: its name. */
  readonly job: number
  readonly worker: string
  readonly due: number
  readonly start: number
  readonly end: number
  /** It was stopped because the round was over. */
  readonly isCutOff: boolean
}

/** A result as a run; nothing for a run that never started. */
export function jobRun(job: number, begin: Date, result: TaskResult): JobRun | undefined {
  const { startTime, dueTime, endTime, workerId, outcome } = result
  if (startTime === undefined) return undefined
  const at = (time: Date): number => time.getTime() - begin.getTime()
  return {
    job,
    worker: workerId,
    due: at(dueTime),
    start: at(startTime),
    end: at(endTime),
    isCutOff: outcome === 'cancelled',
  }
}
