const FIRST_BYTES = 64 * 1024
/** A buffer that has grown beyond this is not kept for the next message. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Messages within messages. */
const MAX_DEPTH = 8
/** Shorter texts are written by a loop: the way into the runtime costs more. */
const SHORT = 48

/**
 * Writes the wire format into one buffer that stays, for the three messages that are paid for each task; nothing may be awaited between the first byte and `take`.
 * The library's writer gives each message memory of its own from the system, where a small one is better off in a pool, and checks every number twice.
 *
 * Tags are field number × 8 + wire type.
 */
export class WireWriter {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #at = 0
  readonly #forks = new Uint32Array(MAX_DEPTH)
  #depth = 0

  /** A whole number, as a varint; one below zero takes ten bytes, as int32 and int64 want it. */
  int(value: number): this {
    this.#room(10)
    if (value >= 0 && value < 2 ** 31 && Number.isInteger(value)) this.#uint31(value)
    // BigInt refuses what is no whole number
    else this.#int64(BigInt.asUintN(64, BigInt(value)))
    return this
  }

  bool(value: boolean): this {
    this.#room(1)
    this.#bytes[this.#at++] = value ? 1 : 0
    return this
  }

  text(value: string): this {
    this.#room(5 + value.length * 3)
    if (value.length <= SHORT && this.#ascii(value)) return this
    const bytes = Buffer.byteLength(value)
    this.#uint31(bytes)
    this.#at += this.#bytes.write(value, this.#at)
    return this
  }

  /** Bytes as a field of their own. */
  bytes(value: Uint8Array): this {
    this.#room(5)
    this.#uint31(value.byteLength)
    return this.raw(value)
  }

  /** Bytes as they are: fields that somebody else has written. */
  raw(value: Uint8Array): this {
    this.#room(value.byteLength)
    this.#bytes.set(value, this.#at)
    this.#at += value.byteLength
    return this
  }

  /** Begins a message within the message, until {@link join}. */
  fork(): this {
    this.#room(1)
    if (this.#depth === MAX_DEPTH) throw new RangeError(`messages are nested deeper than ${MAX_DEPTH}`)
    this.#forks[this.#depth++] = this.#at
    // room for its length: few are longer than 127 bytes, and then move
    this.#at++
    return this
  }

  join(): this {
    if (this.#depth === 0) throw new Error('no message was begun within this one')
    const from = this.#forks[--this.#depth] ?? 0
    const length = this.#at - from - 1
    const more = length < 0x80 ? 0 : length < 0x4000 ? 1 : length < 0x200000 ? 2 : 3
    if (more > 0) {
      this.#room(more)
      this.#bytes.copyWithin(from + 1 + more, from + 1, this.#at)
    }
    this.#at = from
    this.#uint31(length)
    this.#at += length
    return this
  }

  /** A point in time, in microseconds since 1970, as a Timestamp. */
  timestamp(micros: number): this {
    const seconds = Math.floor(micros / 1_000_000)
    return this.#time(seconds, (micros - seconds * 1_000_000) * 1_000)
  }

  /** The same from milliseconds: as microseconds, a due time after the year 2255 would not be exact. */
  instant(ms: number): this {
    const seconds = Math.floor(ms / 1_000)
    return this.#time(seconds, (ms - seconds * 1_000) * 1_000_000)
  }

  #time(seconds: number, nanos: number): this {
    this.fork()
    if (seconds !== 0) this.int(8).int(seconds)
    if (nanos !== 0) this.int(16).int(nanos)
    return this.join()
  }

  /** A copy of what was written; begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = Buffer.allocUnsafe(this.#at)
    this.#bytes.copy(taken, 0, 0, this.#at)
    this.clear()
    return taken
  }

  /** Forgets what was written: after an error. */
  clear(): void {
    this.#at = 0
    this.#depth = 0
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  }

  #uint31(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#at++] = (rest & 0x7f) | 0x80
      rest >>>= 7
    }
    this.#bytes[this.#at++] = rest
  }

  #int64(value: bigint): void {
    let rest = value
    while (rest > 0x7fn) {
      this.#bytes[this.#at++] = Number(rest & 0x7fn) | 0x80
      rest >>= 7n
    }
    this.#bytes[this.#at++] = Number(rest)
  }

  /** @returns false, and nothing is written, when it is not all ASCII. */
  #ascii(value: string): boolean {
    const from = this.#at + 1
    for (let i = 0; i < value.length; i++) {
      const code = value.charCodeAt(i)
      if (code > 0x7f) return false
      this.#bytes[from + i] = code
    }
    this.#bytes[this.#at] = value.length
    this.#at = from + value.length
    return true
  }

  #room(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.#bytes.length, this.#at + bytes))
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
  }
}
