import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutText } from '../../server/executor/cut-text.js'

it('a text that fits stays as it is', () => {
  expect(cutText('grüße', 7)).toBe('grüße')
})

it('any text becomes well-formed and no longer than allowed; a mark says what was cut', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: 'binary', maxLength: 400 }),
      fc.integer({ min: 60, max: 300 }),
      (text, maxBytes) => {
        const cut = cutText(text, maxBytes)
        expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(maxBytes)
        expect(cut.isWellFormed()).toBe(true)
        const fits = Buffer.byteLength(text) <= maxBytes
        const kept = cut.replace(/… \[cut, \d+ characters in all\]$/, '')
        expect(kept === cut).toBe(fits)
        expect(text.toWellFormed().startsWith(kept)).toBe(true)
      },
    ),
  )
})
