import { createClient } from 'punctual'
import { describe, expect, it, vi } from 'vitest'
import { METRICS } from '../../server/telemetry/metric-list.js'
import { ServerProcess } from './server-process.js'

const TASKS = 1_000

describe('the metrics of a server that works', () => {
  it('tell what it did, in few series, and never whose task it was', async () => {
    await using server = await ServerProcess.start(['--metrics', '127.0.0.1:0'])
    await using client = createClient({ address: server.address })
    const results = await Promise.all(
      Array.from({ length: TASKS }, async (_, n) => {
        const [handler, input] = n % 2 === 0 ? (['echo', { n }] as const) : (['fibonacci', { n: 5 }] as const)
        const labels = { tenant: `tenant-S3CRET-${n}` }
        const task = await client.schedule(handler, input, { id: `S3CRET-${n}`, labels })
        return task.ended()
      }),
    )
    expect(results).toHaveLength(TASKS)
    const lines = await vi.waitFor(() => scrapeUntilCounted(server), { timeout: 20_000 })
    const values = valuesOf(lines)

    expect(sum(values, METRICS.tasksScheduled.name)).toBe(TASKS)
    expect(sum(values, METRICS.attempts.name)).toBe(TASKS)
    expect(sum(values, `${METRICS.lateness.name}_count`)).toBe(TASKS)
    expect(sum(values, `${METRICS.commitDuration.name}_count`)).toBeGreaterThan(0)
    expect(sum(values, METRICS.storeSize.name)).toBeGreaterThan(0)
    expect(sum(values, METRICS.storeAvailable.name)).toBe(1)
    expect(sum(values, METRICS.slots.name)).toBeGreaterThan(256)
    expect(lines.length).toBeLessThan(300)
    expect(lines.join('\n')).not.toContain('S3CRET')
    expect(await server.stop('SIGTERM')).toBe(0)
  })
})

async function scrapeUntilCounted(server: ServerProcess): Promise<string[]> {
  const [, port] = /"port":(\d+),"msg":"metrics are served/.exec(server.log) ?? []
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
  const lines = (await answer.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(sum(valuesOf(lines), METRICS.results.name)).toBe(TASKS)
  return lines
}

/** What stands in each series. */
function valuesOf(lines: readonly string[]): Map<string, number> {
  return new Map(lines.map((line) => [line.replace(/ [^ ]*$/, ''), Number(line.split(' ').at(-1))]))
}

function sum(values: ReadonlyMap<string, number>, metric: string): number {
  const name = metric.replaceAll('.', '_')
  const ours = [...values].filter(([series]) =>
    [name, `${name}_total`].includes(series.replace(/\{.*$/s, '')),
  )
  return ours.reduce((total, [, value]) => total + value, 0)
}
