import type { DatabaseSync } from '@photostructure/sqlite'
import type { BenchTask } from './workload.js'

/** The four acts of a commit. `put` refuses a remembered id by throwing. */
export interface Layout {
  put(tasks: readonly BenchTask[]): void
  start(tasks: readonly BenchTask[]): void
  finish(tasks: readonly BenchTask[], firstSequence: number): void
  purge(tasks: readonly BenchTask[], firstSequence: number): void
}

export type LayoutMaker = (db: InstanceType<typeof DatabaseSync>) => Layout

export const RESULT = Buffer.alloc(150, 7)
const SUCCEEDED = 4

export function conflict(): never {
  throw new Error('an id of the benchmark was taken')
}

export function packed(tasks: readonly BenchTask[]): Buffer {
  return Buffer.concat(tasks.map((task) => task.spec))
}

export function packedResults(tasks: readonly BenchTask[]): Buffer {
  const parts: Buffer[] = []
  for (const task of tasks) parts.push(Buffer.from(task.id, 'latin1'), RESULT)
  return Buffer.concat(parts)
}

export function fields(tasks: readonly BenchTask[]): Buffer {
  const out = Buffer.allocUnsafe(tasks.length * 19)
  tasks.forEach((task, i) => {
    out.write(String(task.due).padStart(13, '0') + SUCCEEDED + String(task.handler).padStart(5, '0'), i * 19)
  })
  return out
}

export const hashes = (tasks: readonly BenchTask[]) => Buffer.concat(tasks.map((task) => task.hash))
export const idList = (tasks: readonly BenchTask[]) => JSON.stringify(tasks.map((task) => task.id))
export const arrivals = (tasks: readonly BenchTask[]) => JSON.stringify(tasks.map((task) => task.arrival))
