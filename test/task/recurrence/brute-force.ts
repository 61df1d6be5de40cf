import type { CronDue } from '../../../server/task/recurrence/cron-next.js'
import type { CronRecurrence } from '../../../server/task/recurrence/recurrence.js'

/*
 * The slow and obvious reading of the rules, which shares no code with the real one: it asks Intl what a clock shows at each minute and
 * walks the calendar minute by minute. Expressions: five fields of numbers, `*`, lists, ranges and steps.
 */

export const MINUTE = 60_000
/** Longer than any gap of our days; the days that zones have skipped are cases of their own. */
const MARGIN = 4 * 60

/** What the clock of a zone shows at each minute, as the number of that minute in an unzoned calendar. */
export type ClockReading = (minute: number) => number

/** Asks Intl for every single minute. */
export function clockOf(timeZone: string): ClockReading {
  const format = new Intl.DateTimeFormat('sv-SE', {
    timeZone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  // Sweden writes 2027-03-14 03:30
  return (minute) => Date.parse(`${format.format(minute * MINUTE).replace(' ', 'T')}Z`) / MINUTE
}

/** All due times in (after, through]; both are full minutes, in milliseconds. */
export function bruteForce(
  recurrence: CronRecurrence,
  after: number,
  through: number,
  clock: ClockReading = clockOf(recurrence.timeZone),
): CronDue[] {
  const from = after / MINUTE - MARGIN
  const to = through / MINUTE + MARGIN
  const shown: number[] = []
  for (let minute = from; minute <= to; minute++) shown.push(clock(minute))

  const minutesThatShow = new Map<number, number[]>()
  shown.forEach((local, i) => minutesThatShow.set(local, [...(minutesThatShow.get(local) ?? []), from + i]))

  const fields = recurrence.expression.split(' ')
  const followsRealTime = fields.slice(0, 2).some((field) => field.startsWith('*'))
  const matches = matcher(fields)
  const marks = new Map<number, CronDue['mark']>()
  let lastShown = shown[0] ?? 0
  for (let local = lastShown; local <= (shown.at(-1) ?? 0); local++) {
    const minutes = minutesThatShow.get(local) ?? []
    if (minutes.length > 0) lastShown = local
    if (!matches(local)) continue
    const chosen =
      followsRealTime || recurrence.dstOverlap === 'both'
        ? minutes
        : minutes.slice(...PASS[recurrence.dstOverlap])
    for (const minute of chosen) marks.set(minute, chosen.length > 1 ? 'doubled' : 'normal')
    if (minutes.length > 0 || followsRealTime) continue
    // the minute that would show it, had the clock gone on as before the gap
    const moved = (minutesThatShow.get(lastShown)?.at(-1) ?? 0) + local - lastShown
    marks.set(moved, recurrence.dstGap === 'shift' ? 'shifted' : 'skipped')
  }
  return [...marks]
    .map(([minute, mark]) => ({ due: minute * MINUTE, mark }))
    .filter(({ due }) => due > after && due <= through)
    .toSorted((a, b) => a.due - b.due)
}

const PASS = { first: [0, 1], last: [-1] } as const satisfies Record<string, readonly [number, number?]>

function matcher(fields: readonly string[]): (local: number) => boolean {
  const [minutes, hours, days, months, weekdays] = [
    [0, 59],
    [0, 23],
    [1, 31],
    [1, 12],
    [0, 7],
  ].map(([min = 0, max = 0], i) => valuesOf(fields[i] ?? '', min, max))
  const eitherDay = !fields[2]?.startsWith('*') && !fields[4]?.startsWith('*')
  return (local) => {
    if (!minutes?.has(((local % 60) + 60) % 60)) return false
    const date = new Date(local * MINUTE)
    if (!hours?.has(date.getUTCHours()) || !months?.has(date.getUTCMonth() + 1)) return false
    const byDate = days?.has(date.getUTCDate()) ?? false
    const weekday = date.getUTCDay()
    const byWeekday = (weekdays?.has(weekday) || (weekday === 0 && weekdays?.has(7))) ?? false
    return eitherDay ? byDate || byWeekday : byDate && byWeekday
  }
}

function valuesOf(field: string, min: number, max: number): Set<number> {
  const values = new Set<number>()
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/')
    const [first = '', last = first] = range.split('-')
    const from = range === '*' ? min : Number(first)
    const to = range === '*' ? max : Number(last)
    for (let value = from; value <= to; value++) if ((value - from) % Number(step) === 0) values.add(value)
  }
  return values
}
