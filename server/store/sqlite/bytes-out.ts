const FIRST_BYTES = 64 * 1024
/** Above this a buffer is not kept for the next use. */
const KEPT_BYTES = 4 * 1024 * 1024
/** Shorter texts are written by a loop: the way into the runtime costs more. */
const SHORT = 48

/** Writes numbers and texts one after another into one buffer that grows: what crosses to the store's thread is a few such buffers, not an object a task. */
export class BytesOut {
  #bytes = Buffer.allocUnsafeSlow(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)
  #at = 0

  /** Bytes written so far. */
  get length(): number {
    return this.#at
  }

  /** Begins anew. */
  clear(): void {
    if (this.#bytes.length > KEPT_BYTES) this.#grow(FIRST_BYTES, 0)
    this.#at = 0
  }

  u8(value: number): void {
    this.#room(1)
    this.#bytes[this.#at++] = value
  }

  u32(value: number): void {
    this.#room(4)
    this.#view.setUint32(this.#at, value, true)
    this.#at += 4
  }

  f64(value: number): void {
    this.#room(8)
    this.#view.setFloat64(this.#at, value, true)
    this.#at += 8
  }

  /** Numbers written earlier, in their places. */
  setU8(at: number, value: number): void {
    this.#bytes[at] = value
  }

  setU32(at: number, value: number): void {
    this.#view.setUint32(at, value, true)
  }

  /** Its length in `lengthBytes`, then the text as UTF-8. */
  text(text: string, lengthBytes: 1 | 2 | 4): void {
    this.#room(4 + text.length * 3)
    const from = this.#at + lengthBytes
    const bytes = this.#utf8(text, from)
    if (lengthBytes === 4) this.#view.setUint32(this.#at, bytes, true)
    else if (bytes >= 2 ** (8 * lengthBytes)) throw new RangeError(`a text of ${bytes} bytes is too long`)
    else if (lengthBytes === 2) this.#view.setUint16(this.#at, bytes, true)
    else this.#bytes[this.#at] = bytes
    this.#at = from + bytes
  }

  /** A text whose length somebody else knows. */
  bareText(text: string): void {
    this.#room(text.length * 3)
    this.#at += this.#utf8(text, this.#at)
  }

  bytes(bytes: Uint8Array): void {
    this.#room(bytes.length)
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
  }

  /** A copy of its own of what was written; begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    const taken = Buffer.allocUnsafeSlow(this.#at)
    this.#bytes.copy(taken, 0, 0, this.#at)
    this.clear()
    return taken
  }

  #utf8(text: string, from: number): number {
    if (text.length <= SHORT) {
      let i = 0
      for (; i < text.length; i++) {
        const code = text.charCodeAt(i)
        if (code > 0x7f) break
        this.#bytes[from + i] = code
      }
      if (i === text.length) return i
    }
    return this.#bytes.write(text, from)
  }

  #room(bytes: number): void {
    if (this.#at + bytes > this.#bytes.length)
      this.#grow(Math.max(2 * this.#bytes.length, this.#at + bytes), this.#at)
  }

  #grow(bytes: number, kept: number): void {
    const larger = Buffer.allocUnsafeSlow(bytes)
    this.#bytes.copy(larger, 0, 0, kept)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }
}
