import type { Recurrence } from '../../server/task/recurrence/recurrence.js'
import { nextSlot, type Slot } from '../../server/task/recurrence/slots.js'

/** The wall clock may be off by this much before a grid is moved for it: one limit of the rules, said once more. */
const CLOCK_TOLERANCE_MS = 1_000

/** The slots of a series, walked one by one, with no thought of cost. */
export class Rhythm {
  readonly recurrence: Recurrence
  readonly #id: string
  #firstDue: number

  constructor(id: string, recurrence: Recurrence, now: number, due: number) {
    this.recurrence = recurrence
    this.#id = id
    this.#firstDue = due
    if (recurrence.kind === 'cron') this.#firstDue = this.#slotAfter(Math.max(now, due))?.slot ?? due
  }

  /** Slots of their own, which can pass: of cron and `every`. */
  get isGrid(): boolean {
    return this.recurrence.kind === 'cron' || this.recurrence.kind === 'every'
  }

  /** Undefined: `until` comes before it. */
  first(): Slot | undefined {
    if (this.#firstDue > (this.recurrence.until ?? Infinity)) return undefined
    return this.isGrid ? this.#slotAfter(this.#firstDue - 1) : atOnce(this.#firstDue)
  }

  /** @param end - What the intervals hang on: the last start that keeps a distance, and the end. */
  after(slot: number, end: { readonly lastStart: number; readonly lastEnd: number }): Slot | undefined {
    const { recurrence } = this
    if (this.isGrid) return this.#slotAfter(slot)
    const { lastStart, lastEnd } = end
    const asked =
      recurrence.kind === 'minInterval'
        ? Math.max(lastEnd, lastStart + this.#interval)
        : lastEnd + this.#interval
    const next = Math.max(slot + 1, asked)
    return next > (recurrence.until ?? Infinity) ? undefined : atOnce(next)
  }

  /** The slots from `first` on whose due time has come by `through`. */
  through(first: Slot | undefined, through: number): readonly Slot[] {
    const slots: Slot[] = []
    if (!this.isGrid) return slots
    for (let slot = first; slot && slot.due <= through; slot = this.#slotAfter(slot.slot)) slots.push(slot)
    return slots
  }

  /** The slot itself or, where the clock was set back and it is further away than its interval, the one that starts the rhythm anew. */
  pulledIn(slot: Slot, now: number): Slot {
    if (slot.slot <= this.#firstDue || slot.slot <= now + this.#interval + CLOCK_TOLERANCE_MS) return slot
    this.#firstDue = now
    const pulled = now + this.#interval
    return this.isGrid ? (this.#slotAfter(now) ?? slot) : atOnce(pulled)
  }

  get #interval(): number {
    const { recurrence } = this
    if (recurrence.kind === 'cron') return Infinity
    return recurrence.kind === 'delayAfter' ? recurrence.delayMs : recurrence.intervalMs
  }

  #slotAfter(slot: number): Slot | undefined {
    return nextSlot(this.recurrence, { id: this.#id, firstDue: this.#firstDue }, { slot })
  }
}

const atOnce = (slot: number): Slot => ({ slot, due: slot, mark: 'normal' })
