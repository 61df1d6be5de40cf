import { existsSync, readFileSync } from 'node:fs'

/** What a handler noted: that it began (S), still ran (T), or ended by itself (E). */
export interface Note {
  readonly mark: 'S' | 'T' | 'E'
  /** Milliseconds since 1970. */
  readonly at: number
  readonly pid: number
  readonly taskId: string
  readonly run: number
  readonly attempt: number
}

const LINE = /^(\d+) ([STE]) (\d+) (\S+) (\d+) (\d+)$/

/** Everything that handlers noted, in the order in which it happened, over all processes. A line that a kill cut off is left out. */
export function readJournal(file: string): readonly Note[] {
  if (!existsSync(file)) return []
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line): Note[] => {
      const [, at, mark, pid, taskId, run, attempt] = LINE.exec(line) ?? []
      if (taskId === undefined) return []
      return [
        {
          mark: mark as Note['mark'],
          at: Number(at),
          pid: Number(pid),
          taskId,
          run: Number(run),
          attempt: Number(attempt),
        },
      ]
    })
}
