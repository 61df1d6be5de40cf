/**
 * Makes a text that is well-formed UTF-8 and at most `maxBytes` long; what was cut is marked.
 *
 * @example cutText('x'.repeat(3_000), 100) // 'xxx…xxx… [cut, 3000 characters in all]'
 */
export function cutText(text: string, maxBytes: number): string {
  // Every UTF-16 unit takes a byte or more, so nothing beyond this can be kept.
  const bytes = Buffer.from(text.slice(0, maxBytes + 1))
  if (bytes.length <= maxBytes) return bytes.toString()
  const mark = `… [cut, ${text.length} characters in all]`
  let end = Math.max(0, maxBytes - Buffer.byteLength(mark))
  while (end > 0 && isContinuation(bytes[end])) end--
  return bytes.toString('utf8', 0, end) + mark
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x80 && byte < 0xc0
}
