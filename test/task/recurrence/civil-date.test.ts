import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { civilDate, dayNumber, dayOfWeek, daysInMonth } from '../../../server/task/recurrence/civil-date.js'
import { randomRuns } from './rules.js'

test('days and dates are those of Date, from the year 1 to 9999', () => {
  const property = fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (days) => {
    const date = new Date(days * 86_400_000)
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]
    expect(civilDate(days)).toEqual({ year, month, day })
    expect(dayNumber(year, month, day)).toBe(days)
    expect(dayOfWeek(days)).toBe(date.getUTCDay())
    expect(daysInMonth(year, month)).toBe(lastOf(year, month))
  })
  fc.assert(property, randomRuns(2_000))
})

const lastOf = (year: number, month: number): number => {
  const date = new Date(0)
  date.setUTCFullYear(year, month, 0)
  return date.getUTCDate()
}
