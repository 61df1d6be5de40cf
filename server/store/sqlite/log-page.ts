import type { Instant } from '../../task/instant.js'
import type { LogEntry, LogPosition } from '../task-store.js'
import { BytesIn } from './bytes-in.js'
import type { BytesOut } from './bytes-out.js'
import { entryEnd, readEntry } from './log-entry-codec.js'

/** Writes entries of bodies one after another, each with its position and time and without the task: a page crosses to the main thread as one buffer. */
export function writePageEntry(
  out: BytesOut,
  at: { readonly position: LogPosition; readonly commitTime: Instant },
  body: Uint8Array,
  start: number,
): void {
  const end = entryEnd(body, start)
  out.f64(at.position)
  out.f64(at.commitTime)
  out.u32(end - start)
  out.bytes(body.subarray(start, end))
}

export function readPage(page: Uint8Array): LogEntry[] {
  const from = new BytesIn(page)
  const entries: LogEntry[] = []
  while (!from.isAtEnd) {
    const position = from.f64()
    const commitTime = from.f64()
    const { kind, taskId, handler, outcome, origin, labels, run, bytes } = readEntry(from.bytes(from.u32()))
    entries.push({ position, commitTime, kind, taskId, handler, outcome, origin, labels, run, bytes })
  }
  return entries
}
