import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jitterOf } from '../../../server/task/recurrence/jitter.js'
import { randomRuns } from './rules.js'

const SLOT = 1_800_000_000_000

describe('jitter', () => {
  test('lies in 0 … limit, the limit left out, in whole milliseconds', () => {
    const property = fc.property(
      fc.string(),
      fc.integer({ min: 0, max: 253_402_300_799_999 }),
      fc.integer({ min: 1, max: 2 ** 45 }),
      (id, slot, limit) => {
        const jitter = jitterOf(id, slot, limit)
        expect(Number.isInteger(jitter)).toBe(true)
        expect(jitter).toBeGreaterThanOrEqual(0)
        expect(jitter).toBeLessThan(limit)
      },
    )
    fc.assert(property, randomRuns())
  })

  test('is the same for the same task and slot, today and after an upgrade', () => {
    expect(jitterOf('report', SLOT, 60_000)).toBe(jitterOf('report', SLOT, 60_000))
    expect(['a', 'b', 'report', ''].map((id) => jitterOf(id, SLOT, 2 ** 40))).toEqual([
      816_061_538_602, 563_342_238_161, 985_291_380_642, 194_428_999_058,
    ])
  })

  test('spreads tasks that share a slot evenly', () => {
    const tenths = Array.from({ length: 10 }, () => 0)
    for (let i = 0; i < 10_000; i++) {
      const tenth = jitterOf(`nightly-${i}`, SLOT, 10)
      tenths[tenth] = (tenths[tenth] ?? 0) + 1
    }
    // 1,000 each; four standard deviations are 120
    for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(120)
  })

  test('differs from slot to slot, for a rhythm of a minute or a day', () => {
    for (const step of [60_000, 86_400_000]) {
      const values = Array.from({ length: 1_000 }, (_, k) => jitterOf('report', SLOT + k * step, 1_000_000))
      expect(new Set(values).size).toBeGreaterThan(990)
      expect(values.filter((value) => value < 500_000).length).toBeGreaterThan(430)
      expect(values.filter((value) => value < 500_000).length).toBeLessThan(570)
    }
  })
})
