import type { Target } from '../callers/measured.js'
import type { Waits } from '../callers/look-up-jobs.js'
import type { Figure } from '../measure/figure.js'
import { figure } from '../measure/figures.js'
import { CallerProcess } from '../processes/caller-process.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide } from './scenario.js'

const TITLE = 'Beside large batches: GetTask, one call at a time'
const HOUR = 3_600_000

/** How long another caller's call takes while batches of the greatest size are submitted, beside the same without them. */
export const beside: Scenario = {
  name: 'beside',
  async run({ caller, scale, say }) {
    await using server = await ServerProcess.start()
    await using asking = await CallerProcess.start()
    const target: Target = { address: server.address, pid: server.pid }
    const during = (size: number, dueInMs: number) => async (): Promise<Waits> => {
      await asking.run('startLookUps', { target })
      const tasks = await caller.run('batchesFor', {
        target,
        seconds: Math.min(scale.seconds, 5),
        size,
        inFlight: 2,
        dueInMs,
      })
      const waits = await asking.run('stopLookUps', undefined)
      say(`  ${tasks} tasks in batches of ${size} beside ${waits.calls} calls`)
      return waits
    }
    const size = scale.name === 'smoke' ? 512 : 10_000
    const told = await sideBySide(Math.min(scale.runs, 3), {
      quiet: during(0, HOUR),
      waiting: during(size, HOUR),
    })
    const line = (field: 'p50Ms' | 'p99Ms' | 'maxMs', label: string): Figure =>
      figure(
        {
          scenario: TITLE,
          name: `batches of ${size.toLocaleString('en')}, 2 in flight: ${label}`,
          of: told.waiting.map((one) => one[field]),
          ceiling: { name: 'without them', of: told.quiet.map((one) => one[field]) },
        },
        'ms',
      )
    return [line('p50Ms', 'p50'), line('p99Ms', 'p99'), line('maxMs', 'max')]
  },
}
