/** Reads what `BytesOut` wrote. */
export class BytesIn {
  readonly #bytes: Buffer
  readonly #view: DataView
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.at = at
  }

  get isAtEnd(): boolean {
    return this.at >= this.#bytes.length
  }

  u8(): number {
    return this.#view.getUint8(this.at++)
  }

  u32(): number {
    this.at += 4
    return this.#view.getUint32(this.at - 4, true)
  }

  f64(): number {
    this.at += 8
    return this.#view.getFloat64(this.at - 8, true)
  }

  text(lengthBytes: 1 | 2 | 4): string {
    let length: number
    if (lengthBytes === 1) length = this.#view.getUint8(this.at)
    else if (lengthBytes === 2) length = this.#view.getUint16(this.at, true)
    else length = this.#view.getUint32(this.at, true)
    this.at += lengthBytes + length
    return this.#bytes.toString('utf8', this.at - length, this.at)
  }

  /** The next bytes, not copied. */
  bytes(length: number): Buffer {
    this.at += length
    return this.#bytes.subarray(this.at - length, this.at)
  }

  /** All that is left, not copied. */
  rest(): Buffer {
    return this.bytes(this.#bytes.length - this.at)
  }
}
