import { randomBytes } from 'node:crypto'
import type { Way } from '../callers/drain-jobs.js'
import type { Measured } from '../callers/measured.js'
import { rateFigure } from '../measure/figures.js'
import { ServerProcess } from '../processes/server-process.js'
import { startTraceSink } from '../processes/trace-sink.js'
import { type Scenario, sideBySide } from './scenario.js'

const TITLE = 'Tracing: what it takes from the drain'
const BATCHES: Way = { kind: 'batches', size: 256, inFlight: 4 }

/**
 * The same drain with tracing off, with one task of a hundred sampled by its caller, and with all of them. Beside it what comes along and is no tracing: a
 * trace context that tasks carry past a server that does not trace, and metrics, which one OTEL_EXPORTER_OTLP_ENDPOINT turns on as well.
 */
export const tracing: Scenario = {
  name: 'tracing',
  async run({ caller, scale }) {
    const sink = await startTraceSink()
    const exporting = (traces: string, metrics: string): Record<string, string> => ({
      OTEL_TRACES_EXPORTER: traces,
      OTEL_METRICS_EXPORTER: metrics,
      OTEL_EXPORTER_OTLP_ENDPOINT: sink.endpoint,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    })
    await using off = await ServerProcess.start()
    await using on = await ServerProcess.start({ env: exporting('otlp', 'none') })
    await using metered = await ServerProcess.start({ env: exporting('none', 'otlp') })
    try {
      const drain =
        ({ address, pid }: ServerProcess, traceparents: readonly string[]) =>
        (tasks = scale.tasks) =>
          caller.run('drain', { target: { address, pid }, tasks, way: BATCHES, traceparents })
      const unsampled = Array.from({ length: 100 }, () => traceparent(false))
      const ways = {
        off: drain(off, ['']),
        carried: drain(off, unsampled),
        metered: drain(metered, ['']),
        some: drain(
          on,
          Array.from({ length: 100 }, (_, i) => traceparent(i === 0)),
        ),
        all: drain(
          on,
          Array.from({ length: 100 }, () => traceparent(true)),
        ),
      }
      await ways.off(scale.warmUp)
      await ways.metered(scale.warmUp)
      await ways.some(scale.warmUp)
      const told = await sideBySide<keyof typeof ways, Measured>(scale.runs, {
        off: () => ways.off(),
        carried: () => ways.carried(),
        metered: () => ways.metered(),
        some: () => ways.some(),
        all: () => ways.all(),
      })
      const ceiling = { name: 'tracing off', of: told.off }
      return [
        rateFigure({ scenario: TITLE, name: 'off', of: told.off }),
        rateFigure({ scenario: TITLE, name: 'off, tasks carry a trace context', of: told.carried, ceiling }),
        rateFigure({ scenario: TITLE, name: 'off, metrics on', of: told.metered, ceiling }),
        rateFigure({ scenario: TITLE, name: '1 % of the tasks sampled', of: told.some, ceiling }),
        rateFigure({ scenario: TITLE, name: 'all tasks sampled', of: told.all, ceiling }),
      ]
    } finally {
      sink.close()
    }
  },
}

function traceparent(sampled: boolean): string {
  return `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-${sampled ? '01' : '00'}`
}
