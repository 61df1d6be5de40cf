import { describe, expect, test } from 'vitest'
import vectors from './cron-vectors.json' with { type: 'json' }
import { cron, nextDues, told } from './rules.js'

describe('due times that two other programs computed', () => {
  test.each(vectors)('$case: $expr in $zone from $base', ({ expr, zone, base, next }) => {
    const dues = nextDues(cron(expr, zone), Date.parse(base), next.length)
    expect(dues.map(({ due }) => told(due))).toEqual(next.map((instant) => told(Date.parse(instant))))
  })
})
