import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { MeterProvider } from '@opentelemetry/sdk-metrics'
import { systemClock } from '../server/clock.js'
import type { Executor } from '../server/executor/executor.js'
import { HistogramTallies } from '../server/telemetry/histogram-tally.js'
import { MeteredExecutor } from '../server/telemetry/metered-executor.js'
import { scrapedReader } from '../server/telemetry/metric-reader.js'
import { Metrics } from '../server/telemetry/metrics.js'
import { samplerOf } from '../server/telemetry/sampler.js'
import { SpanIds } from '../server/telemetry/span-ids.js'
import { TracedExecutor } from '../server/telemetry/traced-executor.js'
import { Tracing } from '../server/telemetry/tracing.js'
import { attemptEnd, attemptRequest, FakeExecutor } from '../test/telemetry/fake-executor.js'

/** What observing an attempt costs the main thread: microseconds an attempt, given, begun and ended. Run: npx tsx bench/tracing-cost.ts */

const ATTEMPTS = 20_000
const ROUNDS = 7
/** Spans that wait are garbage that grows old: as many as a processor gathers before it exports. */
const BETWEEN_EXPORTS = 250
const SAMPLED = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`
const UNSAMPLED = `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00`

const ids = new SpanIds()
const sampler = samplerOf({ name: 'parentbased_traceidratio', ratio: 1 })
const exporter = {
  export: (_spans: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
  shutdown: () => Promise.resolve(),
}
const provider = new BasicTracerProvider({
  sampler,
  idGenerator: ids,
  spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 65_536 })],
})
const traced = (inner: Executor): Executor =>
  new TracedExecutor(inner, new Tracing({ provider, ids, sampler, followsParent: true }))
// without a reader the SDK measures nothing
const histograms = new HistogramTallies('punctual', systemClock)
const meter = new MeterProvider({ readers: [scrapedReader(histograms)] }).getMeter('punctual')
const metered = (inner: Executor): Executor =>
  new MeteredExecutor(inner, new Metrics(meter, histograms, () => true), systemClock)

const CASES: readonly [name: string, wrap: (inner: Executor) => Executor, traceparents: readonly string[]][] =
  [
    ['nothing', (inner) => inner, [SAMPLED]],
    ['metrics', metered, [SAMPLED]],
    ['traces, task not traced by its caller', traced, [UNSAMPLED]],
    ['traces, 1 % of tasks sampled', traced, [SAMPLED, ...Array.from({ length: 99 }, () => UNSAMPLED)]],
    ['traces, all tasks sampled (2 spans each)', traced, [SAMPLED]],
  ]

for (const [name, wrap, traceparents] of CASES) {
  const micros: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    micros.push(await runOnce(wrap, traceparents))
  }
  const median = micros.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] ?? 0
  console.log(`${median.toFixed(2).padStart(8)} µs  ${name}`)
}

async function runOnce(
  wrap: (inner: Executor) => Executor,
  traceparents: readonly string[],
): Promise<number> {
  const inner = new FakeExecutor()
  const executor = wrap(inner)
  executor.listen({ began() {}, ended() {}, returned() {}, released() {} })
  const requests = Array.from({ length: ATTEMPTS }, (_, startId) =>
    attemptRequest({ startId, traceparent: traceparents[startId % traceparents.length] ?? '' }),
  )
  const ends = requests.map(({ startId }) => attemptEnd({ startId }))
  let spentMs = 0
  for (let from = 0; from < ATTEMPTS; from += BETWEEN_EXPORTS) {
    const since = performance.now()
    for (let n = from; n < from + BETWEEN_EXPORTS; n++) {
      executor.start('thread', requests.slice(n, n + 1))
      inner.tell.began(ends.slice(n, n + 1))
      inner.tell.ended(ends.slice(n, n + 1))
    }
    spentMs += performance.now() - since
    await provider.forceFlush()
    inner.started.length = 0
  }
  return (spentMs * 1_000) / ATTEMPTS
}
