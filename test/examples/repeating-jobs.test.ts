import { startTestServer } from 'punctual/testing'
import { describe, expect, it, onTestFinished } from 'vitest'
import { handlers } from '../../examples/repeating-jobs/handlers.js'
import type { JobRun } from '../../examples/repeating-jobs/job-run.js'
import { readOptions } from '../../examples/repeating-jobs/options.js'
import { JOBS, playRound } from '../../examples/repeating-jobs/play-round.js'
import { checkRequirements } from '../../examples/repeating-jobs/requirements.js'
import { countStarts, isFair, startsTable } from '../../examples/repeating-jobs/starts.js'
import { svgTimeline } from '../../examples/repeating-jobs/timeline-svg.js'
import { textTimeline } from '../../examples/repeating-jobs/timeline-text.js'

const SPAN_MS = 60_000
/** The first 20 s, a second a character. */
const CHART = [
  'thread-1 14━━━·13━━··13━━··13',
  'thread-2 2━5━━━━4━━━·2━5━━━━4',
  'thread-3 3━━···2━5━━━━4━━━·2━',
  '         0 s       10        20',
]

async function played(intervalMs: number): Promise<readonly JobRun[]> {
  const server = await startTestServer({ handlers, threads: 3 })
  onTestFinished(() => server.close())
  const { client } = server
  return playRound({ client, intervalMs, spanMs: SPAN_MS, pass: (ms) => server.advance(ms) })
}

const failing = (runs: readonly JobRun[], changes = {}): number[] =>
  checkRequirements(runs, { jobs: [1, 2], workers: 1, intervalMs: 3_000, toleranceMs: 0, ...changes })
    .map(({ against }, index) => (against.length > 0 ? index + 1 : 0))
    .filter((number) => number > 0)

/** A run of job 1 or 2, due when it starts. */
const run = (job: number, start: number, changes: Partial<JobRun> = {}): JobRun => ({
  job,
  worker: 'thread-1',
  due: start,
  start,
  end: start + job * 1_000,
  isCutOff: false,
  ...changes,
})

describe('the repeating jobs, on virtual time', () => {
  it.each([6_000, 2_000])('keep all five requirements, at least %i ms apart', async (intervalMs) => {
    const runs = await played(intervalMs)
    const asked = { jobs: JOBS, workers: 3, intervalMs, toleranceMs: 0 }
    expect(checkRequirements(runs, asked).flatMap(({ against }) => against)).toEqual([])
    expect(isFair(countStarts(runs, JOBS, SPAN_MS))).toBe(true)
  })

  it('start every 6 s when there are workers enough for that', async () => {
    const runs = await played(6_000)
    expect(countStarts(runs, JOBS, SPAN_MS).map(({ starts }) => starts)).toEqual([10, 10, 10, 10, 10])
    expect(textTimeline(runs, { spanMs: 20_000, columns: 20 }).split('\n')).toEqual(CHART)
  })
})

describe('a requirement that is not kept is seen', () => {
  const kept = [run(1, 0), run(2, 1_000, { due: 0 }), run(1, 3_000)]

  it('and one that is kept is not', () => {
    expect(failing(kept)).toEqual([])
  })

  it.each<[string, readonly JobRun[], number]>([
    ['a job that starts late', [run(1, 0), run(2, 1_500, { due: 0 })], 1],
    ['a job that never starts', [run(1, 0)], 1],
    ['more than the workers at a time', [run(1, 0), run(2, 0)], 2],
    [
      'a job beside itself',
      [run(1, 0, { end: 5_000 }), run(2, 5_000, { due: 0 }), run(1, 4_000, { due: 5_000 })],
      3,
    ],
    ['one that jumps the queue', [run(1, 0), run(1, 3_000), run(2, 4_000, { due: 0 })], 4],
    ['a job that does not come back when it is done', [...kept, run(1, 9_000)], 4],
    ['starts too close together', [run(1, 0), run(2, 1_000, { due: 0 }), run(1, 2_900, { due: 3_000 })], 5],
  ])('%s', (_, runs, requirement) => {
    expect(failing(runs)).toContain(requirement)
  })

  it('a longest job that starts more often than the shortest', () => {
    expect(isFair(countStarts([run(2, 0), run(2, 2_000), run(1, 4_000)], [1, 2], SPAN_MS))).toBe(false)
  })
})

describe('what the program shows', () => {
  const runs = [run(1, 0), run(2, 0, { worker: 'thread-2' }), run(1, 3_000)]

  it('a picture with a bar for each run, named after its job', () => {
    const svg = svgTimeline(runs, { spanMs: 10_000, title: 'Jobs' })
    expect(svg.match(/<rect x=/g)).toHaveLength(3)
    expect(svg).toContain('<rect x="90" y="78" width="192" height="26" fill="#f28e2b"')
  })

  it('a table of starts', () => {
    const table = startsTable([{ name: '6 s', starts: countStarts(runs, [1, 2], SPAN_MS) }])
    expect(table).toMatch(/job of 1 s\s*│\s*2/)
  })
})

describe('its command line', () => {
  it('plays 60 s for 6 s and for 2 s', () => {
    expect(readOptions([])).toMatchObject({ intervalsMs: [6_000, 2_000], spanMs: 60_000, workers: 3 })
  })

  it.each([
    [['--interval', '6'], '--interval must be seconds such as 6s or 0.5s, got 6'],
    [['--span', '0s'], '--span must be seconds'],
    [['--workers', '0'], '--workers must be a whole number of 1 or more, got 0'],
  ])('refuses %j', (args, message) => {
    expect(() => readOptions(args)).toThrow(message)
  })
})
