import type { JobRun } from './job-run.js'

export interface TextTimeline {
  readonly spanMs: number
  /** Characters for the whole span. */
  readonly columns: number
  /** Colours a piece of a job. Default: none. */
  readonly paint?: (job: number, text: string) => string
}

/** Which worker ran which job when: a row for each worker. A run begins with the name of its job; where a worker rests, there is a dot. */
export function textTimeline(
  runs: readonly JobRun[],
  { spanMs, columns, paint = (_, text) => text }: TextTimeline,
): string {
  const workers = workersOf(runs)
  const width = Math.max(...workers.map(({ length }) => length))
  const rows = workers.map((worker) => {
    const own = runs.filter((run) => run.worker === worker && run.start < spanMs)
    return `${worker.padEnd(width)} ${row(own, spanMs / columns, columns, paint)}`
  })
  return [...rows, `${' '.repeat(width)} ${axis(spanMs, columns)}`].join('\n')
}

/** The workers that ran something, by name. */
export function workersOf(runs: readonly JobRun[]): readonly string[] {
  return [...new Set(runs.map(({ worker }) => worker))].toSorted((a, b) =>
    a.localeCompare(b, 'en', { numeric: true }),
  )
}

function row(
  runs: readonly JobRun[],
  columnMs: number,
  columns: number,
  paint: (job: number, text: string) => string,
): string {
  let text = ''
  let column = 0
  for (const run of runs.toSorted((a, b) => a.start - b.start)) {
    const first = Math.max(column, Math.round(run.start / columnMs))
    const end = Math.min(columns, Math.max(first + 1, Math.round(run.end / columnMs)))
    if (first >= columns) break
    text += '·'.repeat(first - column) + paint(run.job, String(run.job).padEnd(end - first, '━'))
    column = end
  }
  return text + '·'.repeat(columns - column)
}

function axis(spanMs: number, columns: number): string {
  const stepMs = 10_000
  let text = ''
  for (let at = 0; at <= spanMs; at += stepMs) {
    text = text.padEnd(Math.round((at / spanMs) * columns)) + `${at / 1_000}${at === 0 ? ' s' : ''}`
  }
  return text
}
