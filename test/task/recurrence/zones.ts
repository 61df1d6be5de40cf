import * as fc from 'fast-check'

/** All zones that this Node knows, and a few that it only knows by other names. */
export const ALL_ZONES: readonly string[] = [
  ...Intl.supportedValuesOf('timeZone'),
  'UTC',
  'Etc/GMT+12',
  'Etc/GMT-14',
  'Asia/Kathmandu',
]

/** Zones whose clocks change in ways that others' don't: at midnight, by half an hour or two, before midnight, by the moon, below zero. */
export const ODD_ZONES = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/Godthab',
  'America/Havana',
  'America/New_York',
  'America/Santiago',
  'America/Scoresbysund',
  'America/St_Johns',
  'Antarctica/Troll',
  'Asia/Beirut',
  'Asia/Gaza',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Europe/Dublin',
  'Pacific/Chatham',
  'Pacific/Easter',
] as const

export const DAY = 86_400_000
/** The ten years that the properties speak of. */
export const FROM = Date.UTC(2026, 10, 1)
export const TO = Date.UTC(2036, 10, 1)

/** Days at whose noon a zone's clock differs from that of the day before, by Intl alone. */
export function daysOfChange(timeZone: string): number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  const offsetOn = (day: number) => format.format(day).replace(/.*GMT/, '')
  const days: number[] = []
  let before = offsetOn(FROM)
  for (let day = FROM + DAY; day <= TO; day += DAY) {
    const now = offsetOn(day)
    if (now !== before) days.push(day)
    before = now
  }
  return days
}

const someOf = (min: number, max: number, maxLength: number): fc.Arbitrary<string> =>
  fc
    .uniqueArray(fc.integer({ min, max }), { minLength: 1, maxLength })
    .map((values) => values.toSorted((a, b) => a - b).join(','))
const rangeOf = (min: number, max: number): fc.Arbitrary<string> =>
  fc
    .tuple(fc.integer({ min, max }), fc.integer({ min, max }), fc.integer({ min: 1, max: 7 }))
    .map(([a, b, step]) => `${Math.min(a, b)}-${Math.max(a, b)}/${step}`)
const fieldOf = (min: number, max: number, starWeight: number): fc.Arbitrary<string> =>
  fc.oneof(
    { arbitrary: fc.constant('*'), weight: starWeight },
    {
      arbitrary: fc.integer({ min: 2, max: 15 }).map((step) => `*/${Math.min(step, max - min + 1)}`),
      weight: 1,
    },
    { arbitrary: someOf(min, max, 4), weight: 3 },
    { arbitrary: rangeOf(min, max), weight: 1 },
  )

/** Five-field expressions whose hours lean to those in which clocks change. */
export const anyExpression: fc.Arbitrary<string> = fc
  .tuple(
    fieldOf(0, 59, 1),
    fc.oneof(fieldOf(0, 23, 1), someOf(0, 4, 3), someOf(22, 23, 2)),
    fc.oneof({ arbitrary: fc.constant('*'), weight: 4 }, { arbitrary: fieldOf(1, 28, 1), weight: 1 }),
    fc.constant('*'),
    fc.oneof({ arbitrary: fc.constant('*'), weight: 4 }, { arbitrary: fieldOf(0, 6, 1), weight: 1 }),
  )
  .map((fields) => fields.join(' '))

export const anyPolicies = fc.record({
  dstGap: fc.constantFrom('shift' as const, 'skip' as const),
  dstOverlap: fc.constantFrom('first' as const, 'last' as const, 'both' as const),
})
