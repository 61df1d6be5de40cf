import { daysInMonth } from './civil-date.js'
import { parseCronField, type CronField, type CronFieldKind } from './cron-field.js'
import { explainWholeExpression } from './cron-refusals.js'
import { RecurrenceError, quoted } from './recurrence-error.js'

/** A cron expression, understood. */
export interface CronExpression {
  readonly text: string
  readonly seconds: CronField
  readonly minutes: CronField
  readonly hours: CronField
  readonly daysOfMonth: CronField
  readonly months: CronField
  /** 0 = Sunday. */
  readonly daysOfWeek: CronField
  /**
   * Minute or hour begins with `*`: the rule follows real time (both passes of a repeated hour, nothing in a gap). Otherwise it
   * names fixed local times, for which the DST policies hold.
   */
  readonly followsRealTime: boolean
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'] as const
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] as const
const SECOND: CronFieldKind = { name: 'second', min: 0, max: 59 }
const MINUTE: CronFieldKind = { name: 'minute', min: 0, max: 59 }
const HOUR: CronFieldKind = { name: 'hour', min: 0, max: 23 }
const DAY_OF_MONTH: CronFieldKind = { name: 'day of month', min: 1, max: 31 }
const MONTH: CronFieldKind = { name: 'month', min: 1, max: 12, names: MONTHS }
const DAY_OF_WEEK: CronFieldKind = { name: 'day of week', min: 0, max: 6, names: WEEKDAYS }
const FIVE_FIELDS = 'minute, hour, day of month, month, day of week'

/** Every list of every value of all six fields fits twice; a longer text is not read at all. */
export const MAX_CRON_LENGTH = 1_000

// Parsing is a pure function of the text; a server with many tasks of one rule parses it once.
const parsed = new Map<string, CronExpression>()
const MAX_PARSED = 2_000

/**
 * Reads a cron expression of 5 fields (minute, hour, day of month, month, day of week) or 6 (seconds first). Names (JAN, MON; any case),
 * ranges, steps, lists; 7 is Sunday too. Day of month and day of week both restricted: either matches.
 *
 * @throws {@link RecurrenceError} for field `cron`: all bad fields at once, each with what would be right. A date that never comes is refused too.
 * @example parseCron('30 2 * * MON-FRI').hours.values // [2]
 */
export function parseCron(expression: string): CronExpression {
  const known = parsed.get(expression)
  if (known) return known
  const cron = parseFields(expression)
  if (parsed.size >= MAX_PARSED) parsed.clear()
  parsed.set(expression, cron)
  return cron
}

function parseFields(expression: string): CronExpression {
  if (expression.length > MAX_CRON_LENGTH)
    throw refused(`the expression has ${expression.length} characters: at most ${MAX_CRON_LENGTH}`)
  const whole = explainWholeExpression(expression.trim())
  if (whole !== undefined) throw refused(whole)
  const texts = expression.split(/[ \t]+/).filter((text) => text !== '')
  if (texts.length !== 5 && texts.length !== 6) throw refused(wrongCount(expression, texts.length))
  const [second = '', minute = '', hour = '', dayOfMonth = '', month = '', dayOfWeek = ''] =
    texts.length === 6 ? texts : ['0', ...texts]

  const problems: string[] = []
  const read = (kind: CronFieldKind, text: string): CronField => {
    try {
      return parseCronField(kind, text)
    } catch (problem) {
      problems.push(`${kind.name}: ${(problem as Error).message}`)
      return { values: [], startsWithStar: false, next: new Int8Array(), below: new Uint8Array() }
    }
  }
  const cron: CronExpression = {
    text: expression,
    seconds: read(SECOND, second),
    minutes: read(MINUTE, minute),
    hours: read(HOUR, hour),
    daysOfMonth: read(DAY_OF_MONTH, dayOfMonth),
    months: read(MONTH, month),
    daysOfWeek: read(DAY_OF_WEEK, dayOfWeek),
    followsRealTime: minute.startsWith('*') || hour.startsWith('*'),
  }
  if (problems.length > 0) throw refused(problems.join('; '))
  if (neverComes(cron))
    throw refused(
      `no month of "${month}" has a day "${dayOfMonth}", so ${quoted(expression)} would never run`,
    )
  return cron
}

function wrongCount(expression: string, count: number): string {
  if (count === 0) return `the expression is empty: write 5 fields (${FIVE_FIELDS}), or 6 with seconds first`
  const year = count === 7 ? ' (a year field is not accepted: end a series with `until`)' : ''
  return `${quoted(expression)} has ${count} field${count === 1 ? '' : 's'}: write 5 (${FIVE_FIELDS}), or 6 with seconds first${year}`
}

const refused = (message: string): RecurrenceError => new RecurrenceError('cron', message)

/** A restricted weekday comes in every month, so only a rule that needs its day of month can wait for a date that never comes. */
function neverComes({ daysOfMonth, daysOfWeek, months }: CronExpression): boolean {
  if (!daysOfMonth.startsWithStar && !daysOfWeek.startsWithStar) return false
  const LEAP_YEAR = 2000
  const firstDay = daysOfMonth.values[0] ?? 1
  return months.values.every((month) => firstDay > daysInMonth(LEAP_YEAR, month))
}
