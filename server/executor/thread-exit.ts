import type { AttemptLedger } from './attempt-ledger.js'
import type { ThreadWork } from './thread-work.js'

/** Notes whose code ends the thread by `process.exit`, so that the main thread blames nobody else. */
export function noteExits(work: ThreadWork, ledger: AttemptLedger): void {
  const exit = process.exit.bind(process)
  process.exit = (code) => {
    const live = work.current.getStore()
    ledger.exitedBy = live === undefined || live.ended ? -1 : live.attempt.row
    return exit(code)
  }
}
