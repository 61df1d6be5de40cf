/** Where a task of the demo stands. */
export type RowState = 'waiting' | 'running' | 'succeeded' | 'failed'

/** What the demo shows of one task. */
export interface TaskRow {
  readonly n: number
  /** Milliseconds since 1970. */
  readonly dueMs: number
  readonly state: RowState
  /** Once it has ended. */
  readonly end?: {
    readonly latenessMs: number
    readonly durationMs: number
    readonly workerId: string
    readonly traceId: string
    /** The value, or why there is none. */
    readonly text: string
  }
}

const MARKS: Record<RowState, string> = { waiting: '·', running: '▶', succeeded: '✔', failed: '✘' }

/** One line about a task, without colours. */
export function rowText({ n, dueMs, state, end }: TaskRow, nowMs: number): string {
  const head = `${MARKS[state]} fibonacci(${n})`.padEnd(16) + state.padEnd(11)
  if (end !== undefined) {
    const { latenessMs, durationMs, workerId, text } = end
    return `${head}${inMs(latenessMs)} late  ${inMs(durationMs)} long  ${workerId.padEnd(10)} ${text}`
  }
  return state === 'waiting' ? `${head}in ${(Math.max(0, dueMs - nowMs) / 1_000).toFixed(1)} s` : head
}

function inMs(value: number): string {
  return `${value.toFixed(1).padStart(7)} ms`
}
