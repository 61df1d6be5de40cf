import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseDuration } from '../../cli/duration.js'
import { showDuration, showRelative } from '../../cli/relative-time.js'

describe('a duration', () => {
  it.each([
    ['5s', 5_000],
    ['250ms', 250],
    ['1.5s', 1_500],
    ['2h30m', 9_000_000],
    ['1d', 86_400_000],
    ['2w', 14 * 86_400_000],
    ['1h0.5s', 3_600_500],
    ['0s', 0],
    ['PT5M', 300_000],
    ['PT1.5S', 1_500],
    ['P1DT2H', 93_600_000],
    ['P2W', 14 * 86_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(parseDuration(text)).toBe(ms)
  })

  it.each([
    ['abc', 'is no duration'],
    ['', 'is no duration'],
    ['5', 'has no unit: say 5s, 5ms, 5m or 5h'],
    ['5 s', 'is no duration'],
    ['5x', 'is no duration'],
    ['-5s', 'is no duration'],
    ['5s2h', 'is no duration'],
    ['5s5s', 'is no duration'],
    ['1e3s', 'is no duration'],
    ['0.1ms', 'less than a millisecond'],
    ['P', 'is no duration'],
    ['PT', 'is no duration'],
    ['P1DT', 'is no duration'],
    ['P1Y', 'years and months have no fixed length'],
    ['P1M', 'years and months have no fixed length'],
    ['Infinitys', 'is no duration'],
  ])('%j is an error, never zero', (text, message) => {
    expect(() => parseDuration(text)).toThrow(message)
  })

  it('of any text is a number of milliseconds or an error (C130)', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'0159.PTWDHMSmshdw '.split('')) }), (text) => {
        let ms: number
        try {
          ms = parseDuration(text)
        } catch {
          return
        }
        expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true)
        expect(ms === 0 && /[1-9]/.test(text)).toBe(false)
      }),
    )
  })

  it.each([
    [0, '0 ms'],
    [1.5, '1.5 ms'],
    [999.9, '1 s'],
    [1_500, '1.5 s'],
    [59_000, '59 s'],
    [59_990, '1 min'],
    [119_600, '2 min'],
    [9_000_000, '2 h 30 min'],
    [3_599_900, '1 h'],
    [90_000, '1 min 30 s'],
    [86_400_000, '1 d'],
    [90_000_000, '1 d 1 h'],
  ])('of %d ms reads %j', (ms, text) => {
    expect(showDuration(ms)).toBe(text)
  })

  it('is said as seen from now', () => {
    const now = Date.UTC(2030, 0, 1)
    expect(showRelative(new Date(now + 5_000), now)).toBe('in 5 s')
    expect(showRelative(new Date(now - 90_000), now)).toBe('1 min 30 s ago')
    expect(showRelative(new Date(now), now)).toBe('now')
  })
})
