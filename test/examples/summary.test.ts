import { array, assert, integer, property } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { summarise } from '../../examples/demo/summary.js'

describe('the summary of the demo', () => {
  it('is that of the article: count, mean, median, min, max', () => {
    expect(summarise([4, 1, 2, 13])).toEqual({ count: 4, mean: 5, median: 3, min: 1, max: 13 })
    expect(summarise([3, 1, 2])).toMatchObject({ median: 2 })
    expect(summarise([7])).toEqual({ count: 1, mean: 7, median: 7, min: 7, max: 7 })
  })

  it('is nothing without a value', () => {
    expect(summarise([])).toBeUndefined()
  })

  it('has p95 and p99 from 100 values on', () => {
    const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n + 1)
    expect(summarise(upTo(99))).not.toHaveProperty('p95')
    expect(summarise(upTo(100))).toMatchObject({ p95: 95, p99: 99, median: 50.5 })
    expect(summarise(upTo(1_000))).toMatchObject({ p95: 950, p99: 990 })
  })

  it('does not depend on the order, nor touch what it is given', () => {
    assert(
      property(array(integer(), { minLength: 1, maxLength: 300 }), (values) => {
        const given = Object.freeze([...values])
        const summary = summarise(given)
        expect(summarise(given.toReversed())?.median).toBe(summary?.median)
        expect(summary?.min).toBe(given.reduce((a, b) => Math.min(a, b)))
        expect(summary?.max).toBe(given.reduce((a, b) => Math.max(a, b)))
      }),
    )
  })
})
