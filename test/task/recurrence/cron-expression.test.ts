import { describe, expect, test } from 'vitest'
import { MAX_CRON_LENGTH, parseCron } from '../../../server/task/recurrence/cron-expression.js'
import { RecurrenceError } from '../../../server/task/recurrence/recurrence-error.js'
import { cron, nextTold } from './rules.js'

const valuesOf = (expression: string) => {
  const { seconds, minutes, hours, daysOfMonth, months, daysOfWeek } = parseCron(expression)
  return [seconds, minutes, hours, daysOfMonth, months, daysOfWeek].map(({ values }) => values.join(' '))
}

describe('a cron expression', () => {
  test('has five fields, or six with seconds first', () => {
    expect(valuesOf('5 4 3 2 1')).toEqual(['0', '5', '4', '3', '2', '1'])
    expect(valuesOf('6 5 4 3 2 1')).toEqual(['6', '5', '4', '3', '2', '1'])
  })

  test('takes ranges, steps, steps of ranges, and lists of them', () => {
    expect(valuesOf('0-3,10,50-59/4,*/30 * * * *')[1]).toBe('0 1 2 3 10 30 50 54 58')
  })

  test('takes names of months and weekdays in any case, and 7 as Sunday', () => {
    expect(valuesOf('0 0 * jan,Mar-MAY Mon-wed')).toEqual([
      '0',
      '0',
      '0',
      expect.any(String),
      '1 3 4 5',
      '1 2 3',
    ])
    expect(valuesOf('0 0 * * 6,7')[5]).toBe('0 6')
    expect(valuesOf('0 0 * * 5-7')[5]).toBe('0 5 6')
    expect(valuesOf('0 0 * * FRI-SUN')[5]).toBe('0 5 6')
    expect(valuesOf('0 0 * * SUN-TUE')[5]).toBe('0 1 2')
  })

  test('may be set out with blanks and tabs', () => {
    expect(valuesOf('  0\t9  * * MON-FRI ')).toEqual(valuesOf('0 9 * * 1-5'))
  })

  test.each([
    ['*/7 * * * *', 'steps start again each hour', '2027-01-01T00:50Z', ['00:56', '01:00', '01:07']],
    ['15 */20 * * * *', 'second 15', '2027-01-01T00:00Z', ['00:00:15', '00:20:15', '00:40:15']],
    ['*/20 0 0 1 1 *', 'seconds', '2026-12-31T23:59:59Z', ['00:00', '00:00:20', '00:00:40']],
  ])('%s: %s', (expression, _, base, expected) => {
    expect(nextTold(cron(expression), base, 3)).toEqual(expected.map((time) => `2027-01-01T${time}Z normal`))
  })

  test('runs on either day when day of month and day of week are both set (C030)', () => {
    const rule = cron('0 0 13 * 5')
    const first = ['01-08', '01-13', '01-15', '01-22', '01-29'].map((day) => `2027-${day}T00:00Z normal`)
    expect(nextTold(rule, '2027-01-01T00:00Z', 5)).toEqual(first)
    const year = nextTold(rule, '2026-12-31T23:59Z', 80).filter((due) => due.startsWith('2027'))
    expect(year).toHaveLength(64)
  })

  test('narrows, not widens, by a day field that begins with *', () => {
    expect(nextTold(cron('0 0 */31 * 1'), '2027-01-01T00:00Z', 2)).toEqual([
      '2027-02-01T00:00Z normal',
      '2027-03-01T00:00Z normal',
    ])
  })

  test('waits for a rare date, over centuries without leap day', () => {
    expect(nextTold(cron('0 0 29 2 *'), '2096-03-01T00:00Z', 1)).toEqual(['2104-02-29T00:00Z normal'])
    expect(nextTold(cron('0 0 29 2 */7'), '2027-01-01T00:00Z', 2)).toEqual([
      '2032-02-29T00:00Z normal',
      '2060-02-29T00:00Z normal',
    ])
  })

  test('does not move day 31 to the end of shorter months (C033)', () => {
    const months = ['03', '05', '07'].map((month) => `2027-${month}-31T12:00Z normal`)
    expect(nextTold(cron('0 12 31 * *'), '2027-01-31T12:00Z', 3)).toEqual(months)
  })

  test('ends before the year 10000', () => {
    expect(nextTold(cron('0 0 * * *', 'America/New_York'), '9999-12-30T12:00Z', 9)).toEqual([
      '9999-12-31T05:00Z normal',
    ])
  })

  test('is asked in vain for a base beyond all calendars, but never loops', () => {
    expect(nextTold(cron('* * * * *'), '9999-12-31T23:59Z', 1)).toEqual([])
    expect(nextTold(cron('0 0 1 1 *', 'Europe/Rome'), '-000400-01-01T00:00Z', 1)).toHaveLength(1)
  })
})

const refusal = (expression: string): RecurrenceError => {
  try {
    parseCron(expression)
  } catch (error) {
    if (error instanceof RecurrenceError) return error
    throw error
  }
  throw new Error(`${expression} was accepted`)
}

describe('a cron expression is refused, naming the field and what would be right:', () => {
  test.each([
    // C034
    ['5x * * * *', 'minute: "5x" is not understood'],
    ['1-2-3 * * * *', 'minute: "1-2-3" is not understood'],
    ['*/15garbage * * * *', 'minute: "*/15garbage" is not understood'],
    ['*/0 * * * *', 'a step is at least 1'],
    ['*/-1 * * * *', 'a step is at least 1'],
    ['60 * * * *', 'minute is 0-59'],
    ['5-1 * * * *', 'write 5-59,0-1'],
    ['0 24 * * *', 'hour is 0-23'],
    ['0 0 0 * *', 'day of month is 1-31'],
    ['0 0 1 13 *', 'month is 1-12'],
    ['1,,2 * * * *', 'remove the stray comma'],
    ['@every 5m', 'the recurrence `every`'],
    // other dialects, by name
    ['@daily', 'write "0 0 * * *"'],
    ['@reboot', 'a one-shot task'],
    ['0 0 ? * *', 'write "*"'],
    ['0 0 L * *', 'write 28-31'],
    ['0 0 * * 5L', 'each such weekday'],
    ['0 0 15W * *', 'MON-FRI'],
    ['0 0 * * MON#2', '"#" (n-th weekday of the month) is not accepted'],
    ['H 0 * * *', '`jitter`'],
    ['TZ=UTC 0 0 * * *', 'time_zone'],
    ['CRON_TZ=UTC 0 0 * * *', 'time_zone'],
    ['5/15 * * * *', 'write 5-59/15'],
    ['*/61 * * * *', 'at most 60'],
    ['0 0 * * 8', 'day of week is 0-7'],
    ['0 0 * FOO *', 'a name (JAN-DEC)'],
    ['0 0 * * MONDAY', 'a name (SUN-SAT)'],
    ['0 0 MON * *', 'day of month: "MON" is not understood'],
    ['0 22-2 * * *', 'write 22-23,0-2'],
    ['1.5 * * * *', 'not understood'],
    ['٥ * * * *', 'not understood'],
    ['* *\n* * *', 'has 4 fields'],
    ['', 'the expression is empty'],
    ['   ', 'the expression is empty'],
    ['* * * *', 'has 4 fields'],
    ['0 0 0 1 1 * 2027', 'a year field is not accepted'],
    // C031
    ['0 0 31 2 *', 'would never run'],
    ['0 0 30 2 *', 'would never run'],
    ['0 0 31 4 *', 'would never run'],
    ['0 0 31 2,4,6 *', 'would never run'],
    ['0 0 30,31 2 */2', 'would never run'],
  ])('%s', (expression, told) => {
    const { field, message } = refusal(expression)
    expect(field).toBe('cron')
    expect(message).toContain(told)
  })

  test('all bad fields at once', () => {
    const { message } = refusal('60 24 32 13 8')
    for (const field of ['minute:', 'hour:', 'day of month:', 'month:', 'day of week:'])
      expect(message).toContain(field)
  })

  // C151: unread, because too long; a test of the time that it takes stands in test/outside
  test.each([
    ['1 MB of a list', `${'0,'.repeat(500_000)}0 * * * *`],
    ['10,000 fields', '* '.repeat(10_000)],
    ['a list of 200,000 items', `${Array.from({ length: 200_000 }, (_, i) => i).join(',')} * * * *`],
    ['1 MB of blanks', ' '.repeat(1_000_000)],
    ['1 MB of @', '@'.repeat(1_000_000)],
  ])('%s', (_, expression) => {
    expect(refusal(expression).message).toContain(`at most ${MAX_CRON_LENGTH}`)
  })

  test('0-99999999/1, without walking it', () => {
    expect(refusal('0-99999999/1 * * * *').message).toContain('minute is 0-59')
    expect(refusal(`*/${'9'.repeat(400)} * * * *`).message).toContain('at most 60')
  })

  test('in one line of plain text, whatever was sent', () => {
    const { message } = refusal('\u001B[31m\n{"level":"fatal"}\u0085\u202E x * * *')
    expect(message).toMatch(/^[\x20-\x7e…]*$/)
    expect(message.length).toBeLessThan(400)
  })
})

test('every value of every field, written out, is still short enough', () => {
  const list = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) => i + from).join(',')
  const expression = [list(0, 59), list(0, 59), list(0, 23), list(1, 31), list(1, 12), list(0, 7)].join(' ')
  expect(parseCron(expression).minutes.values).toHaveLength(60)
})
