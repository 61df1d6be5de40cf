import type { TaskInfo } from '../client/index.js'
import type { TaskPlan } from './plans.js'

/** What is known of one task from the answers of the server. */
export interface Entry {
  readonly id: string
  readonly plan: TaskPlan
  /** When it was sent for the first time, ms since 1970. */
  readonly sentAt: number
  /** The server has said that it is stored. */
  isAcknowledged: boolean
  /** The newest answer of a cancel, and when it came. */
  cancelled?: { readonly at: number; readonly state: TaskInfo['state'] }
  /** A cancel was tried, but its answer never came. */
  mayBeCancelled: boolean
  /** Its rhythm or its number of runs was meddled with: paused, run beside it, replaced, retried. */
  isMeddledWith: boolean
  /** It may have been given a new spec, or been opened again after its end. */
  mayHaveReopened: boolean
}

/** What the server has promised: everything that the checks hold it to. */
export class Book {
  readonly entries = new Map<string, Entry>()
  /** Errors that callers met, by name and reason. */
  readonly errors = new Map<string, number>()
  calls = 0
  acknowledged = 0

  open(id: string, plan: TaskPlan): Entry {
    const entry: Entry = {
      id,
      plan,
      sentAt: Date.now(),
      isAcknowledged: false,
      mayBeCancelled: false,
      isMeddledWith: false,
      mayHaveReopened: false,
    }
    this.entries.set(id, entry)
    return entry
  }

  acknowledge(id: string): void {
    const entry = this.entries.get(id)
    if (!entry || entry.isAcknowledged) return
    entry.isAcknowledged = true
    this.acknowledged++
  }

  failed(call: string, error: unknown): void {
    const { name, reason, code } = error as { name?: string; reason?: string; code?: string }
    const text = [call, name, reason || code].filter(Boolean).join(' ')
    this.errors.set(text, (this.errors.get(text) ?? 0) + 1)
  }
}
