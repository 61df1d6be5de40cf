import { printable } from './printable.js'
import type { Terminal } from './terminal.js'

/** An outage is told once, not at every try: longer than the client waits between two. */
const SAME_OUTAGE_MS = 10_000

/** Tells on stderr that a stream broke; the same again shortly after is the same outage. */
export function breakNotices(terminal: Terminal): (error: Error) => void {
  let last = { message: '', at: 0 }
  return ({ message }) => {
    const at = terminal.now()
    const isKnown = message === last.message && at - last.at < SAME_OUTAGE_MS
    last = { message, at }
    if (!isKnown) terminal.complain(`punctual: connection lost (${printable(message)}); resuming`)
  }
}
