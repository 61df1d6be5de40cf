import { describe, expect, test } from 'vitest'
import { nearestName } from '../../server/task/nearest-name.js'

const NAMES = ['echo', 'fibonacci', 'sleep', 'send-mail']

describe('the name that was probably meant', () => {
  test.each([
    ['fibonaci', 'fibonacci'],
    ['Fibonacci', 'fibonacci'],
    ['fibnoacci', 'fibonacci'],
    ['sned-mail', 'send-mail'],
    ['ehco', 'echo'],
  ])('%s: %s', (typed, expected) => {
    expect(nearestName(typed, NAMES)).toBe(expected)
  })

  test.each(['', 'x', 'toString', 'fib', 'entirely-different', 'x'.repeat(100_000)])(
    'is not guessed for %.20s',
    (typed) => {
      expect(nearestName(typed, NAMES)).toBeUndefined()
    },
  )
})
