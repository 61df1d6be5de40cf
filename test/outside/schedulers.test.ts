import { describe, expect, it } from 'vitest'
import { PRESETS } from '../../server/scheduler/presets.js'
import { runPunctual } from './child-script.js'
import { ServerProcess } from './server-process.js'

describe.each(Object.keys(PRESETS))('punctual serve --scheduler %s', (scheduler) => {
  it('serves: runs what is due in either lane, not before its time, and drains at SIGTERM', async () => {
    await using server = await ServerProcess.start(['--scheduler', scheduler])
    const schedule = (...words: string[]) =>
      runPunctual(['schedule', ...words, '--wait', '--json'], { env: { PUNCTUAL_ADDRESS: server.address } })
    const ended = await Promise.all([
      schedule('fibonacci', '{"n": 20}', '--in', '300ms'),
      schedule('sleep', '{"ms": 50}'),
    ])
    expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ])
    const [late] = ended.map(({ stdout }) => JSON.parse(stdout) as Record<string, unknown>)
    expect(late).toMatchObject({ handler: 'fibonacci', outcome: 'succeeded', output: { value: 6_765 } })
    const [due, start] = [late?.['due_time'], late?.['start_time']].map((time) => Date.parse(String(time)))
    expect(start).toBeGreaterThanOrEqual(due ?? Infinity)
    expect(await server.stop('SIGTERM')).toBe(0)
  })
})
