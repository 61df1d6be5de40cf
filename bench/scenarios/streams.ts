import type { Way } from '../callers/drain-jobs.js'
import type { Measured, Target } from '../callers/measured.js'
import type { Figure } from '../measure/figure.js'
import { rateFigure } from '../measure/figures.js'
import { CallerProcess } from '../processes/caller-process.js'
import { ServerProcess } from '../processes/server-process.js'
import { type Scenario, sideBySide } from './scenario.js'

const TITLE = 'Result streams: results delivered, all readers together'
const BATCHES: Way = { kind: 'batches', size: 256, inFlight: 4 }
/** Beside the one that the drain itself has. */
const NINE = 9

/** How fast one and ten readers get results: what the log holds, and what comes live. */
export const streams: Scenario = {
  name: 'streams',
  async run({ caller, scale, echo }) {
    await using server = await ServerProcess.start()
    await using others = await CallerProcess.start()
    const target: Target = { address: server.address, pid: server.pid }
    const bare: Target = { address: echo.address, pid: echo.pid }
    const drain = (to: Target) => caller.run('drain', { target: to, tasks: scale.tasks, way: BATCHES })
    const withNine = async (to: Target): Promise<Measured> => {
      await others.run('startReaders', { target: to, readers: NINE })
      const measured = await drain(to)
      await others.run('stopReaders', undefined)
      return { ...measured, perSecond: measured.perSecond * (1 + NINE) }
    }
    await caller.run('drain', { target, tasks: scale.warmUp, way: BATCHES })
    const live = await sideBySide(scale.runs, {
      one: () => drain(target),
      bareOne: () => drain(bare),
      ten: () => withNine(target),
      bareTen: () => withNine(bare),
    })
    const shape = await caller.run('measureLog', { target })
    const read = (readers: number) => caller.run('readAll', { target, readers, shape, bare: false })
    const bytes = (readers: number) => caller.run('readAll', { target: bare, readers, shape, bare: true })
    const replay = await sideBySide(scale.runs, {
      one: () => read(1),
      bareOne: () => bytes(1),
      ten: () => read(10),
      bareTen: () => bytes(10),
    })
    const figure = (name: string, ceiling: string, of: Measured[], ceilings: Measured[]): Figure =>
      rateFigure({ scenario: TITLE, name, of, ceiling: { name: ceiling, of: ceilings } }, 'results/s')
    const same = 'bare gRPC stream of as many bytes'
    const doesNothing = 'bare gRPC server that runs and keeps nothing'
    return [
      figure('replay to one reader', same, replay.one, replay.bareOne),
      figure('replay to ten readers', same, replay.ten, replay.bareTen),
      figure('live to one reader', doesNothing, live.one, live.bareOne),
      figure('live to ten readers', doesNothing, live.ten, live.bareTen),
    ]
  },
}
