import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  countIntervalSlots,
  newestIntervalSlots,
  nextIntervalSlot,
} from '../../../server/task/recurrence/interval-slots.js'
import { randomRuns } from './rules.js'

const anyGrid = fc.record({
  firstDue: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  intervalMs: fc.oneof(fc.integer({ min: 100, max: 5_000 }), fc.integer({ min: 100, max: 400 * 86_400_000 })),
})
const anyInstant = fc.integer({ min: 0, max: 9_000_000_000_000 })

describe('the grid of every', () => {
  test('has slot k at first + k × interval exactly, after billions of slots too (P5)', () => {
    const property = fc.property(anyGrid, fc.integer({ min: 1, max: 2_000_000_000 }), (grid, k) => {
      const exact = (n: number) => Number(BigInt(grid.firstDue) + BigInt(n) * BigInt(grid.intervalMs))
      fc.pre(exact(k) < 253_402_300_800_000)
      expect(nextIntervalSlot(grid, exact(k) - 1)).toBe(exact(k))
      expect(nextIntervalSlot(grid, exact(k - 1))).toBe(exact(k))
      expect(countIntervalSlots(grid, grid.firstDue - 1, exact(k))).toBe(k + 1)
    })
    fc.assert(property, randomRuns())
  })

  test('has its next slot strictly after the base, less than one interval on', () => {
    const property = fc.property(anyGrid, anyInstant, (grid, after) => {
      const next = nextIntervalSlot(grid, after) ?? Infinity
      expect(next).toBeGreaterThan(after)
      const furthest = after < grid.firstDue ? grid.firstDue : after + grid.intervalMs
      expect(next).toBeLessThanOrEqual(furthest)
    })
    fc.assert(property, randomRuns())
  })

  test('lists what it counts', () => {
    const property = fc.property(
      anyGrid,
      anyInstant,
      fc.integer({ min: -1_000, max: 100_000 }),
      (grid, after, length) => {
        const through = after + length
        const walked: number[] = []
        for (
          let slot = nextIntervalSlot(grid, after);
          slot !== undefined && slot <= through;
          slot = nextIntervalSlot(grid, slot)
        )
          walked.push(slot)
        expect(countIntervalSlots(grid, after, through)).toBe(walked.length)
        expect(newestIntervalSlots(grid, after, through, 5)).toEqual(walked.slice(-5))
      },
    )
    fc.assert(property, randomRuns())
  })

  test('ends before the year 10000', () => {
    const grid = { firstDue: 253_402_300_799_000, intervalMs: 600 }
    expect(nextIntervalSlot(grid, grid.firstDue)).toBe(grid.firstDue + 600)
    expect(nextIntervalSlot(grid, grid.firstDue + 600)).toBeUndefined()
    expect(countIntervalSlots(grid, 0, Number.MAX_SAFE_INTEGER)).toBe(2)
  })
})
