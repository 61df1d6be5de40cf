import type { Way } from '../callers/drain-jobs.js'
import type { Target } from '../callers/measured.js'
import { rateFigure } from '../measure/figures.js'
import { CallerProcess } from '../processes/caller-process.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide } from './scenario.js'

const TITLE = 'Results: replayed from the first on, and live to many readers'
const READERS = 10
const BATCHES: Way = { kind: 'batches', size: 256, inFlight: 4 }

/** What the log gives to those who read it. */
export const results: Scenario = {
  name: 'results',
  async run({ caller, scale, echo }) {
    await using server = await ServerProcess.start()
    await using readers = await CallerProcess.start()
    const target: Target = { address: server.address, pid: server.pid }
    const bare: Target = { address: echo.address, pid: echo.pid }
    const drain = () => caller.run('drain', { target, tasks: scale.tasks, way: BATCHES })
    await caller.run('drain', { target, tasks: scale.warmUp, way: BATCHES })
    let fewest = Infinity
    const live = await sideBySide(scale.runs, {
      one: drain,
      ten: async () => {
        await readers.run('startReaders', { target, readers: READERS })
        const measured = await drain()
        const read = await readers.run('stopReaders', undefined)
        fewest = Math.min(fewest, ...read.map((bytes) => bytes / scale.tasks))
        return measured
      },
    })
    const replayed = await sideBySide(scale.runs, {
      own: () => caller.run('replay', { target }),
      echo: () => caller.run('replay', { target: bare, echo: scale.tasks }),
    })
    return [
      rateFigure(
        {
          scenario: TITLE,
          name: 'replay to one reader',
          of: replayed.own,
          ceiling: { name: 'bare gRPC stream of the same messages', of: replayed.echo },
        },
        'results/s',
      ),
      rateFigure({
        scenario: TITLE,
        name: `drain with ${READERS} more live readers`,
        of: live.ten,
        ceiling: { name: 'drain with one reader', of: live.one },
        also: { 'bytes a task that the slowest had read by then': fewest },
      }),
    ]
  },
}
