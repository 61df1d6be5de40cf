import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runPunctual } from './child-script.js'
import { ServerProcess } from './server-process.js'

let server: ServerProcess
beforeAll(async () => {
  server = await ServerProcess.start()
})
afterAll(() => server[Symbol.asyncDispose]())

const punctual = (words: readonly string[], stdin?: string, env: Readonly<Record<string, string>> = {}) =>
  runPunctual(words, {
    env: { PUNCTUAL_ADDRESS: server.address, ...env },
    ...(stdin !== undefined && { stdin }),
  })

describe('the punctual command', () => {
  it('schedules, waits and prints the result as JSON; reads the input from stdin', async () => {
    const { code, stdout, stderr } = await punctual(
      ['schedule', 'fibonacci', '-', '--wait', '--json'],
      '{"n": 20}',
    )
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({
      handler: 'fibonacci',
      outcome: 'succeeded',
      output: { value: 6_765 },
    })
  })

  it('ends with 4 when the task failed, 3 when it is not found, 2 when it is refused', async () => {
    expect((await punctual(['schedule', 'fibonacci', '{"n": 4}', '--wait'])).code).toBe(0)
    const cancelled = punctual(['schedule', 'sleep', '{"ms": 60000}', '--id', 'long', '--wait', '--json'])
    await untilStored('long')
    await punctual(['cancel', 'long'])
    expect((await cancelled).code).toBe(4)
    expect((await punctual(['get', 'nobody'])).code).toBe(3)
    const refused = await punctual(['schedule', 'fibonaci', '{"n": 4}'])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain("did you mean 'fibonacci'")
    expect((await runPunctual(['stats', '--address', '127.0.0.1:1'])).code).toBe(5)
  })

  it('lists, and shows results, stats and handlers', async () => {
    await punctual(['schedule', 'echo', '"hello"', '--id', 'greeting', '--in', '1h', '--label', 'team=a'])
    const { stdout } = await punctual(['list', '--label', 'team=a', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ id: 'greeting', state: 'scheduled', labels: { team: 'a' } })
    const results = await punctual(['results', '--handler', 'fibonacci', '--json'])
    expect(results.code).toBe(0)
    expect(results.stdout.trim().split('\n').length).toBeGreaterThan(0)
    const stats = await punctual(['stats'])
    expect(stats.stdout).toContain('scheduled 1')
    const handlers = await punctual(['handlers'])
    expect(handlers.stdout).toContain('fibonacci')
  })

  it('previews a cron rule over a night on which clocks change', async () => {
    const words = ['preview', '30 2 * * *', '--zone', 'America/New_York', '--from', '2027-03-13T12:00:00Z']
    const { stdout } = await punctual([...words, '--count', '3', '--json'])
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { due_time: string; mark: string })
    expect(lines.map(({ due_time, mark }) => `${due_time} ${mark}`)).toEqual([
      '2027-03-14T07:30:00.000Z shifted',
      '2027-03-15T06:30:00.000Z normal',
      '2027-03-16T06:30:00.000Z normal',
    ])
  })

  it('writes no colours into a pipe, whatever the environment says of terminals', async () => {
    const env = { CI: 'true', FORCE_COLOR: '1' }
    const { stdout } = await punctual(['preview', '0 2 * * *', '--count', '1'], '', env)
    expect(stdout).toContain('T02:00:00')
    expect(stdout).not.toContain('\u001B')
  })
})

async function untilStored(id: string): Promise<void> {
  while ((await punctual(['get', id])).code !== 0);
}
