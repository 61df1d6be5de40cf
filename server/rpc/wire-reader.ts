import { isUtf8 } from 'node:buffer'
import { BinaryReader } from '@bufbuild/protobuf/wire'
import { notBuilt } from '../admission/not-built.js'

/** A message that is no message: the bytes do not follow the wire format. */
class BrokenMessageError extends Error {
  override readonly name = 'BrokenMessageError'
}

/** Reads the wire format strictly: the library takes bad UTF-8 for good, and a message that runs over its own end. */
export class WireReader extends BinaryReader {
  readonly #bytes: Buffer
  /** The last text, or any since this was reset, was not UTF-8. */
  badText = false

  constructor(bytes: Buffer) {
    super(bytes)
    this.#bytes = bytes
  }

  override string(): string {
    const end = this.end()
    const text = this.#bytes.toString('utf8', this.pos, end)
    // the replacement character may be meant; then the bytes are good
    if (text.includes('\uFFFD') && !isUtf8(this.#bytes.subarray(this.pos, end))) this.badText = true
    this.pos = end
    return text
  }

  /** A text that is often the one before, such as a handler's name: then that is it, and none is made. Only ASCII is recognized. */
  textAfter(before: string): string {
    const start = this.pos
    const end = this.end()
    if (end - this.pos === before.length) {
      let i = 0
      while (i < before.length && this.#bytes[this.pos + i] === before.charCodeAt(i)) i++
      if (i === before.length) {
        this.pos = end
        return before
      }
    }
    this.pos = start
    return this.string()
  }

  /** Reads bytes that belong to the message around them, without a copy; they must end by `limit`. */
  slice(limit = this.len): Buffer {
    const end = this.end(limit)
    const bytes = this.#bytes.subarray(this.pos, end)
    this.pos = end
    return bytes
  }

  /** Throws for field 0, which no message has; else goes past a field that is not known. */
  skipField(tag: number): void {
    if (tag >>> 3 === 0) throw new BrokenMessageError('a field has the number 0')
    // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- three bits from the wire; what is no wire type throws
    this.skip(tag & 7, tag >>> 3)
  }

  /** Reads the length of what follows: the position where it ends. @throws BrokenMessageError when that lies outside of `limit`. */
  end(limit = this.len): number {
    const end = this.uint32() + this.pos
    if (end > limit) throw new BrokenMessageError('a field runs over the end of its message')
    return end
  }

  /** Called where a message should end. @throws BrokenMessageError when its last field ran over it. */
  expectEnd(end: number): void {
    if (this.pos !== end) throw new BrokenMessageError('a field runs over the end of its message')
  }
}

/** Decodes a message with generated code, and notes the numbers of the fields that it does not know. */
export class NotingReader extends WireReader {
  readonly unknown: number[] = []

  constructor(bytes: Buffer) {
    super(bytes)
    // generated code skips a field without its number: it is in what was read last, the tag
    const read = this.uint32
    let last = 0
    this.uint32 = () => (last = read.call(this))
    this.skip = (wireType, fieldNo) => {
      this.unknown.push(fieldNo ?? last >>> 3)
      return super.skip(wireType, fieldNo)
    }
  }
}

/** What generated code offers for each message. */
export interface Decoder<T> {
  decode(reader: BinaryReader): T
}

/**
 * Decodes one request of any kind.
 *
 * @throws BrokenMessageError for bytes that are no such message, bad UTF-8 among them; SchedulerError NOT_BUILT for a field that only a newer server knows.
 */
export function decodeMessage<T>(decoder: Decoder<T>, bytes: Buffer): T {
  const reader = new NotingReader(bytes)
  const message = decoded(decoder, reader)
  if (reader.badText) throw new BrokenMessageError('a text is not valid UTF-8')
  if (reader.unknown.length > 0) throw notBuilt(reader.unknown.map((number) => `request (field ${number})`))
  return message
}

/** Decodes with a reader made for it; the reader knows more afterwards. */
export function decoded<T>(decoder: Decoder<T>, reader: WireReader): T {
  let message: T
  try {
    message = decoder.decode(reader)
  } catch (error) {
    throw new BrokenMessageError(error instanceof Error ? error.message : String(error))
  }
  reader.expectEnd(reader.len)
  return message
}
