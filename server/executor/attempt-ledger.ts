import type { StopReason } from '../handlers/handler-context.js'

/**
 * Memory that the main thread and a worker thread share: a row for each attempt that the worker has in hand. Who begins, withdraws, stops or ends an attempt
 * is settled here, by compare-and-swap, whatever either thread is busy with; and what has ended is out of reach of whatever the worker runs next.
 *
 * A row: its word, the length of its outcome, start and end in µs since 1970, and room for a short outcome. Row 0 is about the thread.
 */
const ROW_BYTES = 256
const OUTCOME_OFFSET = 24
const OUTCOME_BYTES = ROW_BYTES - OUTCOME_OFFSET
const ROW_INTS = ROW_BYTES / Int32Array.BYTES_PER_ELEMENT
const ROW_DOUBLES = ROW_BYTES / Float64Array.BYTES_PER_ELEMENT

/** Where an attempt stands: the lowest bits of its word. */
export const ROW_STATE = {
  waiting: 0,
  /** Begun; its start time is about to be written. */
  claimed: 1,
  running: 2,
  /** Ended; a short outcome lies in the row. */
  ended: 3,
  /** Ended; its outcome was sent as a message before this was written. */
  endedByMessage: 4,
  /** The main thread took it back before it began. */
  withdrawn: 5,
} as const
export type RowState = (typeof ROW_STATE)[keyof typeof ROW_STATE]

const STATE_MASK = 0b111
const STOP_SHIFT = 3
const STOP_MASK = 0b11
const GENERATION_SHIFT = 5
const GENERATION_MASK = 2 ** (32 - GENERATION_SHIFT) - 1
const STOPS: readonly (StopReason | undefined)[] = [undefined, 'cancelled', 'timedOut', 'serverStops']

/** Words of row 0. */
const LOOK_ASKED = 0
const HEARTBEAT = 1
const IN_CALL = 2
const EXITED_BY = 3
/** No JSON text: the handler returned nothing. */
const NO_OUTPUT = -1

export class AttemptLedger {
  readonly memory: SharedArrayBuffer
  readonly #words: Int32Array
  readonly #times: Float64Array
  readonly #bytes: Buffer

  /** @param memory - Of another thread's ledger, or made by {@link AttemptLedger.memoryFor}. */
  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    this.#words = new Int32Array(memory)
    this.#times = new Float64Array(memory)
    this.#bytes = Buffer.from(memory)
  }

  /** Fresh memory for rows 1 to `rows`. */
  static memoryFor(rows: number): SharedArrayBuffer {
    return new SharedArrayBuffer((rows + 1) * ROW_BYTES)
  }

  /** Main thread: takes a free row for an attempt. @returns its generation: whoever still holds an older one has no say. */
  arm(row: number): number {
    const generation = ((this.#word(row) >>> GENERATION_SHIFT) + 1) & GENERATION_MASK
    Atomics.store(this.#words, row * ROW_INTS, wordOf(generation, ROW_STATE.waiting))
    return generation
  }

  /** Main thread: takes an attempt back. @returns false when it has begun. */
  withdraw(row: number, generation: number): boolean {
    return this.#swap(row, wordOf(generation, ROW_STATE.waiting), wordOf(generation, ROW_STATE.withdrawn))
  }

  /** Main thread: marks a running attempt as told to stop. @returns false when it has ended: then its own outcome holds. */
  requestStop(row: number, reason: StopReason): boolean {
    for (;;) {
      const word = this.#word(row)
      const state = word & STATE_MASK
      if (state !== ROW_STATE.claimed && state !== ROW_STATE.running) return false
      const stopped = word | (STOPS.indexOf(reason) << STOP_SHIFT)
      if (stopReasonIn(word) !== undefined || this.#swap(row, word, stopped)) return true
    }
  }

  /** Worker: begins an attempt. @returns false when it was withdrawn. */
  begin(row: number, generation: number, startTimeUs: number): boolean {
    if (!this.#swap(row, wordOf(generation, ROW_STATE.waiting), wordOf(generation, ROW_STATE.claimed)))
      return false
    this.#times[row * ROW_DOUBLES + 1] = startTimeUs
    // added, not stored: a stop may have been noted meanwhile
    Atomics.add(this.#words, row * ROW_INTS, ROW_STATE.running - ROW_STATE.claimed)
    return true
  }

  /** Worker: ends an attempt that succeeded, if its output fits into the row. @param text - JSON; undefined = no output. */
  endHere(row: number, endTimeUs: number, text: string | undefined): boolean {
    if (text !== undefined && text.length * 3 > OUTCOME_BYTES && Buffer.byteLength(text) > OUTCOME_BYTES)
      return false
    const at = row * ROW_BYTES + OUTCOME_OFFSET
    this.#words[row * ROW_INTS + 1] =
      text === undefined ? NO_OUTPUT : this.#bytes.write(text, at, OUTCOME_BYTES)
    this.#end(row, endTimeUs, ROW_STATE.ended)
    return true
  }

  /** Worker: ends an attempt whose outcome was just sent as a message. */
  endByMessage(row: number, endTimeUs: number): void {
    this.#end(row, endTimeUs, ROW_STATE.endedByMessage)
  }

  state(row: number): RowState {
    return (this.#word(row) & STATE_MASK) as RowState
  }

  /** Either thread: why the attempt was told to stop, if it was. */
  stopReason(row: number): StopReason | undefined {
    return stopReasonIn(this.#word(row))
  }

  startTimeUs(row: number): number {
    return this.#times[row * ROW_DOUBLES + 1] ?? 0
  }

  endTimeUs(row: number): number {
    return this.#times[row * ROW_DOUBLES + 2] ?? 0
  }

  /** Main thread: the output in a row that has `ended`, as JSON text; undefined = none. */
  output(row: number): string | undefined {
    const length = this.#words[row * ROW_INTS + 1] ?? NO_OUTPUT
    const at = row * ROW_BYTES + OUTCOME_OFFSET
    return length === NO_OUTPUT ? undefined : this.#bytes.toString('utf8', at, at + length)
  }

  /** Worker: asks the main thread to look. @returns true when a message is needed: none is under way. */
  askForLook(): boolean {
    return Atomics.exchange(this.#words, LOOK_ASKED, 1) === 0
  }

  /** Main thread, before it looks: what ends from here on asks again. */
  lookBegins(): void {
    Atomics.store(this.#words, LOOK_ASKED, 0)
  }

  /** Worker: its event loop turns. */
  beat(): void {
    Atomics.add(this.#words, HEARTBEAT, 1)
  }

  get heartbeat(): number {
    return Atomics.load(this.#words, HEARTBEAT)
  }

  /** Worker: the row whose handler is being called and has not yet returned; 0 = none. */
  set inCall(row: number) {
    Atomics.store(this.#words, IN_CALL, row)
  }

  get inCall(): number {
    return Atomics.load(this.#words, IN_CALL)
  }

  /** Worker: the row whose code ends the thread; -1 = code of none that still runs; 0 = nobody did. */
  set exitedBy(row: number) {
    Atomics.store(this.#words, EXITED_BY, row)
  }

  get exitedBy(): number {
    return Atomics.load(this.#words, EXITED_BY)
  }

  #end(row: number, endTimeUs: number, state: RowState): void {
    this.#times[row * ROW_DOUBLES + 2] = endTimeUs
    Atomics.add(this.#words, row * ROW_INTS, state - ROW_STATE.running)
  }

  #word(row: number): number {
    return Atomics.load(this.#words, row * ROW_INTS)
  }

  #swap(row: number, from: number, to: number): boolean {
    return Atomics.compareExchange(this.#words, row * ROW_INTS, from, to) === from
  }
}

function wordOf(generation: number, state: RowState): number {
  // `| 0`: as the typed array will give it back
  return (generation << GENERATION_SHIFT) | state | 0
}

function stopReasonIn(word: number): StopReason | undefined {
  return STOPS[(word >>> STOP_SHIFT) & STOP_MASK]
}
