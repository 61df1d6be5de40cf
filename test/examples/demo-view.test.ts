import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { createLiveView } from '../../examples/demo/live-view.js'
import { demoOptions } from '../../examples/demo/options.js'
import { summaryTable } from '../../examples/demo/summary-table.js'
import { rowText, type TaskRow } from '../../examples/demo/task-row.js'

const WAITING: TaskRow = { n: 7, dueMs: 12_340, state: 'waiting' }
const RUNNING: TaskRow = { ...WAITING, state: 'running' }
const ENDED: TaskRow = {
  ...WAITING,
  state: 'succeeded',
  end: { latenessMs: 0.42, durationMs: 512.3, workerId: 'thread-1', traceId: '', text: '{"value":13}' },
}

describe('the demo', () => {
  it('is asked for ten tasks in 20 s, or for what the command line says', () => {
    expect(demoOptions([])).toEqual({ help: false, spanMs: 20_000, tasks: 10 })
    expect(demoOptions(['--span', '0.5s', '--tasks', '200'])).toEqual({
      help: false,
      spanMs: 500,
      tasks: 200,
    })
  })

  it.each([
    [['--span', '5'], '--span must be seconds such as 5s or 0.5s, got 5'],
    [['--tasks', '0'], '--tasks must be a whole number from 1 to 10000, got 0'],
    [['--spam', '5s'], '--spam'],
  ])('says what is wrong with %j', (args, message) => {
    expect(() => demoOptions(args)).toThrow(message)
  })

  it('tells of a task when it waits, runs and has ended', () => {
    expect(rowText(WAITING, 10_000)).toBe('· fibonacci(7)  waiting    in 2.3 s')
    expect(rowText(RUNNING, 12_345)).toBe('▶ fibonacci(7)  running    ')
    expect(rowText(ENDED, 13_000)).toBe(
      '✔ fibonacci(7)  succeeded      0.4 ms late    512.3 ms long  thread-1   {"value":13}',
    )
  })

  it('prints a line for each change where there is no terminal', async () => {
    const output = new PassThrough()
    const view = createLiveView(output as unknown as NodeJS.WriteStream)
    for (const row of [WAITING, WAITING, RUNNING, RUNNING, ENDED]) view.show([row], 10_000)
    view.done()
    output.end()
    expect((await text(output)).trimEnd().split('\n')).toEqual(
      [WAITING, RUNNING, ENDED].map((row) => rowText(row, 10_000)),
    )
  })

  it('sums up in a table, with percentiles when there are enough values', () => {
    const few = { count: 3, mean: 2, median: 2, min: 1, max: 3 }
    expect(summaryTable({ duration: few })).toContain('median')
    expect(summaryTable({ duration: few })).not.toContain('p95')
    expect(summaryTable({ duration: few, lateness: { ...few, p95: 3, p99: 3 } })).toContain('p99')
  })
})
