import type { Clock, Timer } from '../clock.js'
import type { LogPosition, TaskStore } from '../store/task-store.js'
import { SchedulerError } from '../task/errors.js'
import type { Log } from '../task/log.js'
import { DEFAULT_RETENTION, purgeRules, type RetentionOptions } from './retention-rules.js'

export interface RetentionParts {
  readonly store: Pick<TaskStore, 'purge' | 'tidy' | 'consumers' | 'stats' | 'now'>
  /** What comes after this position must stay: a consumer has still to read it. */
  readonly keepAfter: () => LogPosition
  readonly clock: Clock
  readonly log: Log
}

/** How often it looks, also when there was nothing to do. */
const INTERVAL_MS = 10_000

/**
 * Removes results that need not be kept, step by step, so that no commit waits long for it; tidies the files when nothing else is going on.
 *
 * @example
 * const retention = new Retention({ store, keepAfter: () => releasedThrough(consumers.list(), clock.now()), clock, log })
 * retention.start()
 */
export class Retention {
  readonly #parts: RetentionParts
  readonly #options: RetentionOptions
  #timer: Timer | undefined
  #running: Promise<void> = Promise.resolve()
  #isStopped = false
  /** Position of the newest entry at the last look, and whether the files were tidied since it came. */
  #latest: LogPosition = -1
  #isTidy = false
  /** Consumers that were told of results that went unread, and up to where. */
  readonly #warned = new Map<string, LogPosition>()

  constructor(parts: RetentionParts, options: Partial<RetentionOptions> = {}) {
    this.#parts = parts
    this.#options = { ...DEFAULT_RETENTION, ...options }
  }

  /** Looks from now on, again and again. */
  start(): void {
    this.#timer = this.#parts.clock.setTimer(INTERVAL_MS, () => {
      this.#running = this.run().finally(() => {
        if (!this.#isStopped) this.start()
      })
    })
  }

  /** Resolves when the step under way is over. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#timer?.cancel()
    await this.#running
  }

  /** Removes all that may go now. A store in trouble is left alone until the next look. */
  async run(): Promise<void> {
    try {
      const removed = await this.#purge()
      if (removed > 0) this.#parts.log.debug('results were removed', { entries: removed })
      await this.#tidy(removed)
    } catch (error) {
      // the store's trouble is told by those who cannot work without it
      if (!(error instanceof SchedulerError)) this.#parts.log.error('results cannot be removed', { error })
    }
  }

  async #purge(): Promise<number> {
    const { store, keepAfter } = this.#parts
    let removed = 0
    let more = true
    while (more && !this.#isStopped) {
      const step = await store.purge(purgeRules(this.#options, keepAfter(), store.now()))
      removed += step.entries
      more = step.more
    }
    if (removed > 0) await this.#warnOfUnread()
    return removed
  }

  /** Once nothing has ended since the last look. */
  async #tidy(removed: number): Promise<void> {
    const { latest } = await this.#parts.store.stats()
    const isQuiet = latest === this.#latest && removed === 0
    this.#latest = latest
    if (!isQuiet) this.#isTidy = false
    else if (!this.#isTidy && !this.#isStopped) {
      await this.#parts.store.tidy()
      this.#isTidy = true
    }
  }

  async #warnOfUnread(): Promise<void> {
    const { store, log } = this.#parts
    const [consumers, { earliest }] = await Promise.all([store.consumers(), store.stats()])
    for (const { name, position, lossy } of consumers) {
      if (position >= earliest) this.#warned.delete(name)
      else if (this.#warned.get(name) !== position) {
        this.#warned.set(name, position)
        log.warn('results were removed that a consumer had not read', {
          consumer: name,
          lossy,
          unread: earliest - position,
        })
      }
    }
  }
}
