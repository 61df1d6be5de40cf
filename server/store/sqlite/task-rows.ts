import type { Task } from '../../task/task.js'
import { BytesIn } from './bytes-in.js'
import type { BytesOut } from './bytes-out.js'
import { readTask } from './task-head.js'

/** A task where the store has it: packed, with what a start note says that came after the head was written. */
export interface TaskRow {
  readonly arrival: number
  readonly id: string
  readonly handler: string
  readonly started:
    | { readonly startId: number; readonly startTimeUs: number; readonly attempts: number }
    | undefined
  readonly head: Uint8Array
  readonly spec: Uint8Array
}

/** Writes rows one after another: an answer with many tasks crosses to the main thread as one buffer. */
export function writeRow(out: BytesOut, { arrival, id, handler, started, head, spec }: TaskRow): void {
  out.f64(arrival)
  out.text(id, 1)
  out.text(handler, 1)
  out.u8(started ? 1 : 0)
  if (started) {
    out.f64(started.startId)
    out.f64(started.startTimeUs)
    out.f64(started.attempts)
  }
  out.u32(head.length)
  out.bytes(head)
  out.u32(spec.length)
  out.bytes(spec)
}

export function taskOf({ arrival, id, handler, started, head, spec }: TaskRow): Task {
  const task = readTask(head, { arrival, id, handler, spec })
  return started ? { ...task, state: 'running', ...started } : task
}

/** The tasks in rows. */
export function readRows(rows: Uint8Array): Task[] {
  const from = new BytesIn(rows)
  const tasks: Task[] = []
  while (!from.isAtEnd) {
    const arrival = from.f64()
    const id = from.text(1)
    const handler = from.text(1)
    const started =
      from.u8() === 1 ? { startId: from.f64(), startTimeUs: from.f64(), attempts: from.f64() } : undefined
    const head = from.bytes(from.u32())
    const spec = from.bytes(from.u32())
    tasks.push(taskOf({ arrival, id, handler, started, head, spec }))
  }
  return tasks
}
