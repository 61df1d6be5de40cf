import { civilDate, dayNumber, dayOfWeek, daysInMonth } from './civil-date.js'
import type { CronExpression } from './cron-expression.js'

/**
 * A reading of a wall clock, without a zone: seconds since 1970-01-01T00:00:00 as that clock counts them. Here an expression is matched
 * against the calendar; what clock changes make of the matches is the business of `cron-next`.
 */
export type WallTime = number

const DAY = 86_400
/** First day that no rule reaches: 10000-01-01. */
const END_DAY = dayNumber(10_000, 1, 1)

/** The first match at or after `from`; undefined when there is none before the year 10000. */
export function nextWallTime(cron: CronExpression, from: WallTime): WallTime | undefined {
  const today = Math.floor(from / DAY)
  const day = nextDay(cron, today)
  if (day === undefined) return undefined
  if (day === today) {
    const second = nextSecondOfDay(cron, from - today * DAY)
    if (second >= 0) return today * DAY + second
    const later = nextDay(cron, today + 1)
    return later === undefined ? undefined : later * DAY + nextSecondOfDay(cron, 0)
  }
  return day * DAY + nextSecondOfDay(cron, 0)
}

/** How many matches lie in [from, to). A day costs a few steps, whatever its number of matches. */
export function countWallTimes(cron: CronExpression, from: WallTime, to: WallTime): number {
  if (from >= to) return 0
  const firstDay = Math.floor(from / DAY)
  const lastDay = Math.floor(to / DAY)
  const perDay = secondsOfDayBelow(cron, DAY)
  let count = 0
  for (let day = nextDay(cron, firstDay); day !== undefined && day <= lastDay; day = nextDay(cron, day + 1)) {
    const end = day === lastDay ? secondsOfDayBelow(cron, to - day * DAY) : perDay
    count += end - (day === firstDay ? secondsOfDayBelow(cron, from - day * DAY) : 0)
  }
  return count
}

/** The shortest distance between two matches of an undisturbed calendar, in seconds; undefined when there is only ever one. */
export function smallestDistance(cron: CronExpression): number | undefined {
  const { seconds, minutes, hours } = cron
  const inMinute = span(seconds.values)
  const inHour = span(minutes.values) * 60 + inMinute
  const inDay = span(hours.values) * 3_600 + inHour
  const days = smallestDayDistance(cron)
  const distances = [
    smallestStep(seconds.values),
    smallestStep(minutes.values) * 60 - inMinute,
    smallestStep(hours.values) * 3_600 - inHour,
    days * DAY - inDay,
  ]
  const smallest = Math.min(...distances)
  return Number.isFinite(smallest) ? smallest : undefined
}

/** The first day at or after `from` on which the rule runs. */
function nextDay(cron: CronExpression, from: number): number | undefined {
  if (from >= END_DAY) return undefined
  let { year, month, day } = civilDate(from)
  let first = from - day + 1
  while (year < 10_000) {
    const length = daysInMonth(year, month)
    if (cron.months.next[month] === month) {
      for (; day <= length; day++) if (matchesDay(cron, first + day - 1, day)) return first + day - 1
    }
    first += length
    day = 1
    month = month === 12 ? 1 : month + 1
    if (month === 1) year++
  }
  return undefined
}

function matchesDay({ daysOfMonth, daysOfWeek }: CronExpression, days: number, day: number): boolean {
  const weekday = dayOfWeek(days)
  const byDate = daysOfMonth.next[day] === day
  const byWeekday = daysOfWeek.next[weekday] === weekday
  // POSIX: two restricted day fields are alternatives; a field that begins with `*` only narrows.
  return daysOfMonth.startsWithStar || daysOfWeek.startsWithStar ? byDate && byWeekday : byDate || byWeekday
}

/** The first matching second of a day at or after `from`, or −1. */
function nextSecondOfDay({ seconds, minutes, hours }: CronExpression, from: number): number {
  const firstSecond = seconds.next[0] ?? -1
  const firstMinute = minutes.next[0] ?? -1
  const hour = Math.floor(from / 3_600)
  const minute = Math.floor(from / 60) % 60
  if (hours.next[hour] === hour) {
    if (minutes.next[minute] === minute) {
      const second = seconds.next[from % 60] ?? -1
      if (second >= 0) return hour * 3_600 + minute * 60 + second
    }
    const laterMinute = minutes.next[minute + 1] ?? -1
    if (laterMinute >= 0) return hour * 3_600 + laterMinute * 60 + firstSecond
  }
  const laterHour = hours.next[hour + 1] ?? -1
  return laterHour < 0 ? -1 : laterHour * 3_600 + firstMinute * 60 + firstSecond
}

/** How many seconds of a day match and are < `limit`. */
function secondsOfDayBelow({ seconds, minutes, hours }: CronExpression, limit: number): number {
  const perMinute = seconds.values.length
  const perHour = minutes.values.length * perMinute
  if (limit >= DAY) return hours.values.length * perHour
  const hour = Math.floor(limit / 3_600)
  const minute = Math.floor(limit / 60) % 60
  let count = (hours.below[hour] ?? 0) * perHour
  if (hours.next[hour] !== hour) return count
  count += (minutes.below[minute] ?? 0) * perMinute
  return minutes.next[minute] === minute ? count + (seconds.below[limit % 60] ?? 0) : count
}

const span = (values: readonly number[]): number => (values.at(-1) ?? 0) - (values[0] ?? 0)

function smallestStep(values: readonly number[]): number {
  let smallest = Number.POSITIVE_INFINITY
  for (let i = 1; i < values.length; i++)
    smallest = Math.min(smallest, (values[i] ?? 0) - (values[i - 1] ?? 0))
  return smallest
}

/** The calendar repeats after 400 years, so no distance is missed. */
function smallestDayDistance(cron: CronExpression): number {
  const start = dayNumber(2000, 1, 1)
  const end = dayNumber(2401, 1, 1)
  let smallest = Number.POSITIVE_INFINITY
  let previous: number | undefined
  for (let day = nextDay(cron, start); day !== undefined && day < end; day = nextDay(cron, day + 1)) {
    if (previous !== undefined) smallest = Math.min(smallest, day - previous)
    if (smallest === 1) break
    previous = day
  }
  return smallest
}
