import { execFile } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { startReceiver } from './otlp-receiver.js'

const PROGRAM = fileURLToPath(new URL('./telemetry/telemetry-process.ts', import.meta.url))
const TRACE = '1'.repeat(32)

describe('traces by OTLP', () => {
  it('arrive whole when the server stops: the wait, the attempt, and what its handler did in a real thread', async () => {
    const receiver = await startReceiver()
    const { clean, stderr } = await runServer({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint })
    expect(stderr).toBe('')
    expect(clean).toBe(true)
    const [wait, attempt, fetch] = ['wait', 'run', 'fetch'].map((name) =>
      receiver.spans.find((span) => span.name.startsWith(name)),
    )
    expect(receiver.spans).toHaveLength(3)
    expect(wait).toMatchObject({ traceId: TRACE, parentSpanId: '2'.repeat(16), service: 'punctual' })
    expect(attempt).toMatchObject({ traceId: TRACE, parentSpanId: '2'.repeat(16), scope: 'punctual' })
    expect(attempt?.attributes).toMatchObject({ pages: 3, 'punctual.run': 1, 'punctual.wait_ms': 1.5 })
    expect(fetch).toMatchObject({ traceId: TRACE, parentSpanId: attempt?.spanId, scope: 'handlers' })
    expect(wait?.endTimeNs).toBe(attempt?.startTimeNs)
    await receiver.close()
  })

  it('come with metrics, unless those are turned off', async () => {
    const both = await startReceiver()
    await runServer({ OTEL_EXPORTER_OTLP_ENDPOINT: both.endpoint })
    expect([...both.metrics]).toEqual(expect.arrayContaining(['punctual.run.lateness', 'punctual.streams']))
    await both.close()
    const traces = await startReceiver()
    await runServer({ OTEL_EXPORTER_OTLP_ENDPOINT: traces.endpoint, OTEL_METRICS_EXPORTER: 'none' })
    expect([traces.spans.length, traces.metrics.size]).toEqual([3, 0])
    await traces.close()
  })

  it('carry the name that the operator gave', async () => {
    const receiver = await startReceiver()
    await runServer({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_SERVICE_NAME: 'night-jobs' })
    expect(receiver.spans[0]?.service).toBe('night-jobs')
    await receiver.close()
  })

  it('are not made when the sampler leaves the task out', async () => {
    const receiver = await startReceiver()
    await runServer({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint, OTEL_TRACES_SAMPLER: 'always_off' })
    expect(receiver.spans).toEqual([])
    await receiver.close()
  })
})

describe('a collector that is not there', () => {
  it('does not hold the stop: refused', async () => {
    const { clean, stopMs, stderr } = await runServer({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
    })
    expect(clean).toBe(false)
    expect(stopMs).toBeLessThan(10_000)
    expect(stderr).toContain('"level":"warn"')
  })

  it('does not hold the stop: silent', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const { clean, stopMs, stderr } = await runServer({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
    })
    expect(clean).toBe(false)
    expect(stopMs).toBeLessThan(10_000)
    expect(stderr).toContain('telemetry did not stop in time')
    silent.close()
  })
})

describe('metrics to be scraped', () => {
  it('are at /metrics, on loopback, and nothing else is there', async () => {
    const { scraped, clean, stderr } = await runServer({
      OTEL_METRICS_EXPORTER: 'prometheus',
      OTEL_EXPORTER_PROMETHEUS_PORT: String(await freePort()),
    })
    expect(scraped).toMatchObject({ status: 200, other: 404 })
    expect(scraped?.text).toContain('# TYPE punctual_run_lateness histogram')
    expect(scraped?.text).toMatch(/^punctual_streams(\{.*\})? 2$/m)
    expect(scraped?.text).toContain('service_name="punctual"')
    expect([clean, stderr]).toEqual([true, ''])
  })

  it('stop the start when their address is taken, with one line that says so', async () => {
    const other = createServer()
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    const { port } = other.address() as { port: number }
    const env = { OTEL_METRICS_EXPORTER: 'prometheus', OTEL_EXPORTER_PROMETHEUS_PORT: String(port) }
    await expect(runServer(env)).rejects.toThrow(`cannot serve /metrics on 127.0.0.1:${port}`)
    other.close()
  })
})

describe('telemetry that nobody asked for', () => {
  it('does not even load the SDK', async () => {
    expect(await runServer({})).toMatchObject({ sdkLoaded: false, clean: true, stderr: '' })
  })
})

interface Told {
  readonly sdkLoaded: boolean
  readonly clean: boolean
  readonly stopMs: number
  readonly scraped?: { readonly status: number; readonly text: string; readonly other: number }
}

async function runServer(env: Record<string, string>): Promise<Told & { readonly stderr: string }> {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', 'tsx', PROGRAM], {
    env: { PATH: process.env['PATH'], ...env },
  })
  return { ...(JSON.parse(stdout) as Told), stderr }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
