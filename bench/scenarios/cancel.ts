import type { Target } from '../callers/measured.js'
import { rateFigure } from '../measure/figures.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide } from './scenario.js'

const TITLE = 'Cancel: tasks that wait, on disk before the answer'
const HOUR = 3_600_000

/** Cancelling beside scheduling the same tasks with the same calls. */
export const cancel: Scenario = {
  name: 'cancel',
  async run({ caller, scale }) {
    await using server = await ServerProcess.start()
    const target: Target = { address: server.address, pid: server.pid }
    const { cases } = await sideBySide(scale.runs, {
      cases: async () => ({
        batches: await caller.run('cancelBatches', {
          target,
          tasks: scale.tasks,
          size: 256,
          inFlight: 4,
          dueInMs: HOUR,
        }),
        single: await caller.run('cancelOneByOne', {
          target,
          tasks: scale.calls,
          inFlight: 64,
          dueInMs: HOUR,
        }),
      }),
    })
    const line = (kind: 'batches' | 'single', name: string) =>
      rateFigure({
        scenario: TITLE,
        name,
        of: cases.map((one) => one[kind].cancelled),
        ceiling: { name: 'scheduling them', of: cases.map((one) => one[kind].scheduled) },
      })
    return [line('batches', 'CancelBatch of 256, 4 in flight'), line('single', 'unary Cancel, 64 in flight')]
  },
}
