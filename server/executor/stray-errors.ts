import { failureOf } from './outcome-of.js'
import type { ThreadWork } from './thread-work.js'

/**
 * Errors that no handler caught: of a timer, an event or a promise that nobody waits for. They belong to the attempt that set them off, which the async context
 * tells, and to it alone; left to the thread they would fail whatever runs when they come.
 */
export function hearStrayErrors(work: ThreadWork): void {
  const blame = (error: unknown) => {
    const live = work.current.getStore()
    if (live !== undefined && !live.ended) live.fail?.(failureOf(error))
    work.taint(error)
  }
  process.on('uncaughtException', blame)
  process.on('unhandledRejection', blame)
}
