import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import { Worker } from 'node:worker_threads'
import { systemClock } from '../../../server/clock.js'
import type { SpanRecord } from '../../../server/task/span-record.js'
import { createLogger } from '../../../server/telemetry/logger.js'
import { telemetrySettings } from '../../../server/telemetry/telemetry-settings.js'
import { startTelemetry } from '../../../server/telemetry/telemetry.js'
import { attemptEnd, attemptRequest, FakeExecutor } from '../../telemetry/fake-executor.js'

// A server's life as far as telemetry goes, set up by this process's environment: one attempt in a real thread, then the stop. Tells on stdout.
const telemetry = await startTelemetry(telemetrySettings(process.env), {
  clock: systemClock,
  log: createLogger('warn'),
  version: '1.2.3',
  isLoaded: () => true,
})
telemetry.observe({ streams: () => 2 })

const inner = new FakeExecutor()
const executor = telemetry.executor(inner)
executor.listen({ began() {}, ended() {}, returned() {}, released() {} })
executor.start('thread', [attemptRequest({ traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` })])
inner.tell.began([attemptEnd()])
if (telemetry.threadInstrumentation !== '') await runInThread(telemetry.threadInstrumentation)
inner.tell.ended([attemptEnd()])

const { prometheus } = telemetry
const scraped = prometheus ? await scrape(`http://127.0.0.1:${prometheus.port}`) : undefined
const since = performance.now()
const clean = await telemetry.shutdown(3_000)
const stopMs = performance.now() - since
const sdkLoaded = Object.keys(createRequire(import.meta.url).cache).some((path) => path.includes('sdk-node'))
process.stdout.write(JSON.stringify({ sdkLoaded, clean, stopMs, scraped }), () => process.exit(0))

async function runInThread(module: string): Promise<void> {
  const { startId, traceparent, tracestate } = inner.request
  const thread = new Worker(new URL('./traced-thread.mjs', import.meta.url), {
    workerData: { module, attempt: { startId, traceparent, tracestate } },
    execArgv: [],
  })
  thread.on('message', (records: SpanRecord[]) => inner.tell.spans?.(records))
  await new Promise((resolve, reject) => thread.once('exit', resolve).once('error', reject))
}

async function scrape(at: string) {
  const [metrics, other] = await Promise.all([fetch(`${at}/metrics`), fetch(`${at}/`)])
  return { status: metrics.status, text: await metrics.text(), other: other.status }
}
