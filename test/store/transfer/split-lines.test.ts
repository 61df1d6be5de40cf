import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type NumberedLine, splitLines } from '../../../server/store/transfer/split-lines.js'

async function linesOf(chunks: readonly Uint8Array[], maxLineBytes?: number): Promise<NumberedLine[]> {
  // oxlint-disable-next-line require-await -- chunks that are all there
  const stream = (async function* () {
    yield* chunks
  })()
  const lines: NumberedLine[] = []
  for await (const line of splitLines(stream, maxLineBytes)) lines.push(line)
  return lines
}

describe('lines of a stream', () => {
  it('are numbered from 1, and say how far they are', async () => {
    expect(await linesOf([Buffer.from('a\nbc\n')])).toEqual([
      { number: 1, text: 'a', bytesRead: 2 },
      { number: 2, text: 'bc', bytesRead: 5 },
    ])
  })

  it('need no end at the end', async () => {
    expect(await linesOf([Buffer.from('a\nb')])).toMatchObject([{ text: 'a' }, { text: 'b', bytesRead: 3 }])
  })

  it('are the same however the bytes come, in the middle of a letter too', async () => {
    await fc.assert(
      fc.asyncProperty(
        // U+2028 ends a line for some readers; JSON leaves it as it is
        fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '🜁', '\u2028', '\r', '"') })),
        fc.infiniteStream(fc.integer({ min: 1, max: 5 })),
        async (texts, sizes) => {
          const bytes = Buffer.from(texts.map((text) => `${text}\n`).join(''))
          const chunks: Uint8Array[] = []
          for (let from = 0; from < bytes.length; ) {
            const size = sizes.next().value as number
            chunks.push(bytes.subarray(from, from + size))
            from += size
          }
          expect((await linesOf(chunks)).map(({ text }) => text)).toEqual(texts)
        },
      ),
    )
  })

  it('that are no UTF-8 are refused by their number', async () => {
    await expect(linesOf([Buffer.from('a\n'), Buffer.from([0xc3, 0x28, 0x0a])])).rejects.toThrow(
      'line 2 is not UTF-8 text',
    )
  })

  it('that do not end are refused before they fill the memory', async () => {
    await expect(linesOf([Buffer.from('a\nbbbb'), Buffer.from('bbbb')], 7)).rejects.toThrow(
      'line 2 is longer than 7 bytes: this is no export',
    )
  })
})
