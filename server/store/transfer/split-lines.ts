import { StoreOpenError } from '../task-store.js'

const LINE_END = 0x0a
/** A task of the largest sizes that can be set takes less. */
const MAX_LINE_BYTES = 256 * 1024 * 1024

export interface NumberedLine {
  /** From 1. */
  readonly number: number
  readonly text: string
  /** Bytes read so far. */
  readonly bytesRead: number
}

/**
 * Lines of a stream of bytes. By hand: `node:readline` also ends a line at U+2028, which JSON leaves as it is inside a text.
 *
 * @throws StoreOpenError when a line is no UTF-8 or longer than 256 MiB.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxLineBytes = MAX_LINE_BYTES,
): AsyncGenerator<NumberedLine> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let [number, bytesRead, held] = [0, 0, 0]
  let parts: Uint8Array[] = []
  const take = (last: Uint8Array): NumberedLine => {
    number += 1
    const line = parts.length === 0 ? last : Buffer.concat([...parts, last])
    parts = []
    held = 0
    return { number, text: decoded(decoder, line, number), bytesRead }
  }
  for await (const chunk of chunks) {
    let from = 0
    for (let end = chunk.indexOf(LINE_END); end >= 0; end = chunk.indexOf(LINE_END, from)) {
      bytesRead += end + 1 - from
      const piece = chunk.subarray(from, end)
      from = end + 1
      yield take(piece)
    }
    if (from === chunk.length) continue
    parts.push(chunk.subarray(from))
    held += chunk.length - from
    bytesRead += chunk.length - from
    if (held > maxLineBytes)
      throw new StoreOpenError(`line ${number + 1} is longer than ${maxLineBytes} bytes: this is no export`)
  }
  if (parts.length > 0) yield take(new Uint8Array(0))
}

function decoded(decoder: InstanceType<typeof TextDecoder>, line: Uint8Array, number: number): string {
  try {
    return decoder.decode(line)
  } catch (cause) {
    throw new StoreOpenError(`line ${number} is not UTF-8 text`, { cause })
  }
}
