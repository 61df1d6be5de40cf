import { nearestName } from '../nearest-name.js'
import { RecurrenceError, quoted } from './recurrence-error.js'

/** The longest IANA name has 38 characters. */
const MAX_LENGTH = 64
/** The areas of the IANA database; the last five hold its older country names. Intl alone would let through more: abbreviations, any case, SystemV. */
const FORM =
  /^(?:Africa|America|Antarctica|Arctic|Asia|Atlantic|Australia|Europe|Indian|Pacific|Etc|US|Canada|Brazil|Chile|Mexico)(?:\/[A-Z][A-Za-z0-9_+-]*){1,2}$/

/** What people write instead of a name, and what they mean. Abbreviations say neither place nor clock changes: EST has no summer time. */
const MEANT: Readonly<Record<string, string>> = {
  EST: 'America/New_York',
  EDT: 'America/New_York',
  ET: 'America/New_York',
  CST: 'America/Chicago',
  CDT: 'America/Chicago',
  MST: 'America/Denver',
  MDT: 'America/Denver',
  PST: 'America/Los_Angeles',
  PDT: 'America/Los_Angeles',
  PT: 'America/Los_Angeles',
  AST: 'America/Halifax',
  HST: 'Pacific/Honolulu',
  EST5EDT: 'America/New_York',
  CST6CDT: 'America/Chicago',
  MST7MDT: 'America/Denver',
  PST8PDT: 'America/Los_Angeles',
  BST: 'Europe/London',
  WET: 'Europe/Lisbon',
  CET: 'Europe/Paris',
  CEST: 'Europe/Paris',
  MET: 'Europe/Paris',
  EET: 'Europe/Athens',
  EEST: 'Europe/Athens',
  IST: 'Asia/Kolkata',
  JST: 'Asia/Tokyo',
  AEST: 'Australia/Sydney',
  AEDT: 'Australia/Sydney',
  GMT: 'UTC',
  GMT0: 'UTC',
  UCT: 'UTC',
  Z: 'UTC',
  ZULU: 'UTC',
  UNIVERSAL: 'UTC',
  GREENWICH: 'UTC',
  LOCAL: 'UTC',
}

/** Names that Intl accepts but lists under an older one. */
const NEWER_NAMES = [
  'America/Argentina/Buenos_Aires',
  'America/Nuuk',
  'Asia/Ho_Chi_Minh',
  'Asia/Kathmandu',
  'Asia/Kolkata',
  'Asia/Yangon',
  'Atlantic/Faroe',
  'Europe/Kyiv',
  'Pacific/Chuuk',
  'Pacific/Kanton',
  'Pacific/Pohnpei',
  'UTC',
]

let listed: ReadonlyMap<string, string> | undefined
/** Names by their lower-case form. */
const listedNames = (): ReadonlyMap<string, string> =>
  (listed ??= new Map(
    [...Intl.supportedValuesOf('timeZone'), ...NEWER_NAMES].map((name) => [name.toLowerCase(), name]),
  ))

const accepted = new Set<string>(['UTC'])
/** Bounds the memory that odd spellings of aliases could take. */
const MAX_ACCEPTED = 1_000

/**
 * Accepts the names of the IANA database (`Area/City`, `Etc/…`) in their exact spelling, and `UTC`; nothing is ever taken for UTC silently.
 *
 * @throws {@link RecurrenceError} for field `time_zone`, with what was probably meant.
 * @example checkTimeZone('Europe/Budapesst') // throws: … did you mean Europe/Budapest?
 */
export function checkTimeZone(name: string): void {
  if (accepted.has(name)) return
  if (!isZone(name)) throw new RecurrenceError('time_zone', explain(name))
  if (accepted.size < MAX_ACCEPTED) accepted.add(name)
}

function isZone(name: string): boolean {
  if (name.length > MAX_LENGTH || !FORM.test(name)) return false
  const known = listedNames().get(name.toLowerCase())
  // Intl lists main names only, so an alias is asked for by building a format.
  return known === undefined ? intlName(name) !== undefined : known === name
}

function intlName(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}

function explain(name: string): string {
  if (name === '')
    return 'the name is empty: leave time_zone out for UTC, or write an IANA name such as Europe/Berlin'
  if (name.length > MAX_LENGTH)
    return `the name has ${name.length} characters: write an IANA name such as Europe/Berlin`
  const offset = /^(?:UTC|GMT)?([+-])0?(\d{1,2})(?::?(\d\d))?$/i.exec(name)
  if (offset) return explainOffset(name, offset)
  const meant = meantName(name)
  const suggestion = meant === undefined ? '' : `; did you mean ${meant}?`
  const kind =
    MEANT[name.toUpperCase()] !== undefined && meant !== 'UTC'
      ? 'an abbreviation, not a place'
      : 'not an IANA time zone'
  return `${quoted(name)} is ${kind}: write a name such as Europe/Berlin, or UTC${suggestion}`
}

function explainOffset(name: string, [, sign, hours, minutes = '00']: readonly string[]): string {
  const size = Number(hours)
  const etc = `Etc/GMT${sign === '+' ? '-' : '+'}${size}`
  const fixed =
    minutes === '00' && isZone(etc) ? `, or ${etc} for this fixed offset (its sign is reversed)` : ''
  return `${quoted(name)} is an offset, not an IANA time zone: write the name of a place such as Europe/Berlin${fixed}`
}

function meantName(name: string): string | undefined {
  const tidy = name.trim().replaceAll(/\s+/g, '_')
  const byHabit = MEANT[tidy.toUpperCase()]
  if (byHabit !== undefined) return byHabit
  const names = listedNames()
  const bySpelling = names.get(tidy.toLowerCase())
  if (bySpelling !== undefined) return bySpelling
  const city = `/${tidy.toLowerCase().split('/').at(-1)}`
  const byCity = [...names].find(([lower]) => lower.endsWith(city))?.[1]
  return byCity ?? nearestName(tidy, names.values()) ?? intlPlace(tidy)
}

/** What Intl makes of an old name without an area, such as Japan. */
function intlPlace(name: string): string | undefined {
  const known = intlName(name)
  return known !== undefined && FORM.test(known) ? known : undefined
}
