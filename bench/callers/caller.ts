import type { JobOrder, JobReport } from '../processes/caller-process.js'
import { JOBS } from './jobs.js'

/** The process of a `CallerProcess`: does one job after another. */
process.on('message', ({ name, given }: JobOrder) => {
  const job = JOBS[name] as (given: unknown) => Promise<unknown>
  job(given).then(
    (told) => report({ told }),
    (error: unknown) =>
      report({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  )
})
process.once('disconnect', () => process.exit(0))
process.send?.('ready')

function report(answer: JobReport): void {
  process.send?.(answer)
}
