const MARK = '…'

/**
 * A text of at most `limit` bytes as UTF-8, marked where it was cut, and well-formed: half a surrogate pair in a status message would throw inside of grpc-js.
 *
 * @param limit - At least 3, the size of the mark.
 */
export function cut(text: string, limit: number): string {
  const sound = text.toWellFormed()
  if (sound.length * 3 <= limit || Buffer.byteLength(sound) <= limit) return sound
  const bytes = Buffer.from(sound.slice(0, limit))
  let end = limit - Buffer.byteLength(MARK)
  // not in the middle of a character
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end) + MARK
}
