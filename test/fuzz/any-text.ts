import * as fc from 'fast-check'

/** Any text: of the letters that a grammar uses, mixed; good examples of it, broken in one place; and what nobody foresaw. */
export function anyText(letters: string, examples: readonly string[]): fc.Arbitrary<string> {
  const ofLetters = fc.string({ unit: fc.constantFrom(...letters.split('')), maxLength: 60 })
  return fc.oneof(
    { weight: 3, arbitrary: ofLetters },
    { weight: 5, arbitrary: brokenText(fc.constantFrom(...examples), ofLetters) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 40 }) },
    // long ones, for grammars that look back
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...examples, ...letters.split('')), fc.integer({ min: 1, max: 3_000 }))
        .map(([part, times]) => part.repeat(times)),
    },
  )
}

/** An example with a piece cut out, put in, doubled or exchanged. */
function brokenText(example: fc.Arbitrary<string>, piece: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.tuple(example, piece, fc.nat(), fc.nat()).map(([whole, inserted, a, b]) => {
    const from = a % (whole.length + 1)
    const to = Math.min(whole.length, from + (b % 5))
    switch (b % 4) {
      case 0:
        return whole.slice(0, from) + inserted.slice(0, 8) + whole.slice(to)
      case 1:
        return whole.slice(0, from) + whole.slice(to)
      case 2:
        return whole.slice(0, to) + whole.slice(from)
      default:
        return whole.slice(0, from) + whole.slice(from).toUpperCase()
    }
  })
}
