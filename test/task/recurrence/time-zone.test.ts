import { describe, expect, test } from 'vitest'
import { RecurrenceError } from '../../../server/task/recurrence/recurrence-error.js'
import { checkTimeZone } from '../../../server/task/recurrence/time-zone.js'
import { cron, nextTold } from './rules.js'

const refusal = (name: string): string => {
  try {
    checkTimeZone(name)
  } catch (error) {
    if (error instanceof RecurrenceError && error.field === 'time_zone') return error.message
    throw error
  }
  return 'accepted'
}

describe('a time zone', () => {
  test.each([
    'UTC',
    'Etc/UTC',
    'Etc/GMT+5',
    'Etc/GMT-14',
    'Asia/Kathmandu',
    'Europe/Kyiv',
    'America/Argentina/Buenos_Aires',
    'America/North_Dakota/New_Salem',
    'America/Port-au-Prince',
    'US/Pacific',
  ])('may be %s', (name) => {
    expect(refusal(name)).toBe('accepted')
  })

  test('may be any that Intl lists', () => {
    expect(Intl.supportedValuesOf('timeZone').filter((name) => refusal(name) !== 'accepted')).toEqual([])
  })

  test.each([
    // C037
    ['Europe/Budapesst', 'did you mean Europe/Budapest?'],
    [' America/New_York', 'did you mean America/New_York?'],
    ['GMT+5', 'Etc/GMT-5 for this fixed offset (its sign is reversed)'],
    ['UTC+8', 'Etc/GMT-8'],
    ['America/Nowhere', 'is not an IANA time zone'],
    ['+05:30', 'is an offset'],
    ['UTC-99', 'is an offset'],
    [
      'EST',
      'an abbreviation, not a place: write a name such as Europe/Berlin, or UTC; did you mean America/New_York?',
    ],
    ['PST', 'did you mean America/Los_Angeles?'],
    ['EST5EDT', 'did you mean America/New_York?'],
    ['GMT', 'did you mean UTC?'],
    ['utc', 'did you mean UTC?'],
    ['europe/berlin', 'did you mean Europe/Berlin?'],
    ['America/New_york', 'did you mean America/New_York?'],
    ['America/New York', 'did you mean America/New_York?'],
    ['New York', 'did you mean America/New_York?'],
    ['Berlin', 'did you mean Europe/Berlin?'],
    ['Japan', 'did you mean Asia/Tokyo?'],
    ['Europe/Kyiw', 'did you mean Europe/Kyiv?'],
    ['SystemV/EST5', 'is not an IANA time zone'],
    ['Etc/GMT+25', 'is not an IANA time zone'],
    ['Europe/Berlin\n', 'did you mean Europe/Berlin?'],
    ['__proto__', 'is not an IANA time zone'],
    ['constructor', 'is not an IANA time zone'],
    ['', 'the name is empty'],
    ['x'.repeat(1_000_000), 'has 1000000 characters'],
  ])('is not %j', (name, told) => {
    expect(refusal(name)).toContain(told)
  })

  test('reads Etc/GMT+5 as five hours behind UTC (C038)', () => {
    expect(nextTold(cron('0 12 * * *', 'Etc/GMT+5'), '2027-07-01T00:00Z', 1)).toEqual([
      '2027-07-01T17:00Z normal',
    ])
  })
})
