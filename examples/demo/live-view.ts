import { createLogUpdate } from 'log-update'
import { createColors } from 'picocolors'
import { type RowState, rowText, type TaskRow } from './task-row.js'

/** More rows than this would not fit a terminal: the ones to come and the last ended are left out. */
const MAX_ROWS = 24

/** Shows what becomes of tasks. */
export interface LiveView {
  show(rows: readonly TaskRow[], nowMs: number): void
  /** Leaves the last picture standing. */
  done(): void
}

/** A picture that changes in place on a terminal; elsewhere a line for each change. */
export function createLiveView(output: NodeJS.WriteStream): LiveView {
  return output.isTTY ? new TerminalView(output) : new PlainView(output)
}

class TerminalView implements LiveView {
  readonly #update: ReturnType<typeof createLogUpdate>
  readonly #paint: Record<RowState, (text: string) => string>

  constructor(output: NodeJS.WriteStream) {
    this.#update = createLogUpdate(output)
    const { cyan, dim, green, red } = createColors(true)
    this.#paint = { waiting: dim, running: cyan, succeeded: green, failed: red }
  }

  show(rows: readonly TaskRow[], nowMs: number): void {
    const counts = (['waiting', 'running', 'succeeded', 'failed'] as const).map((state) => {
      const count = rows.filter((row) => row.state === state).length
      return this.#paint[state](`${count} ${state}`)
    })
    const lines = chosen(rows).map((row) => this.#paint[row.state](rowText(row, nowMs)))
    this.#update([counts.join('   '), '', ...lines].join('\n'))
  }

  done(): void {
    this.#update.done()
  }
}

class PlainView implements LiveView {
  readonly #output: NodeJS.WriteStream
  readonly #shown = new Map<number, RowState>()

  constructor(output: NodeJS.WriteStream) {
    this.#output = output
  }

  show(rows: readonly TaskRow[], nowMs: number): void {
    for (const [index, row] of rows.entries()) {
      if (this.#shown.get(index) === row.state) continue
      this.#shown.set(index, row.state)
      this.#output.write(`${rowText(row, nowMs)}\n`)
    }
  }

  done(): void {}
}

/** All, or those around now. */
function chosen(rows: readonly TaskRow[]): readonly TaskRow[] {
  const ended = rows.filter((row) => row.end !== undefined)
  const live = rows.filter((row) => row.end === undefined).slice(0, MAX_ROWS / 2)
  return rows.length <= MAX_ROWS ? rows : [...ended.slice(live.length - MAX_ROWS), ...live]
}
