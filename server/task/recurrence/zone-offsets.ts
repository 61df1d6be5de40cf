/** A stretch of time in which a zone keeps one offset from UTC. All in seconds. */
export interface ZoneSegment {
  /** First second of the stretch. */
  readonly start: number
  /** First second after it. */
  readonly end: number
  /** Local time minus UTC. */
  readonly offset: number
  /** Offset just before `start`; greater than `offset` when the clock went back at `start`. */
  readonly before: number
  /** Offset from `end` on. */
  readonly after: number
}

/** When a zone's clock changes. */
export interface ZoneOffsets {
  /** The stretch that holds `second`. A stretch may be cut where a look-up window ends: then offset and neighbour are equal. Any real change within 3 days is seen. */
  segmentAt(second: number): ZoneSegment
}

// In all of the IANA data since 1900 no two changes of a zone lie closer together than 95 hours, so a look every three days misses none.
const STEP = 3 * 86_400
/** About a year. */
const WINDOW = 122 * STEP
/** Windows kept per zone: a preview over millennia must not fill the memory. */
const MAX_WINDOWS = 512
/** More than the IANA zones and their aliases. */
const MAX_ZONES = 1_000

const zones = new Map<string, ZoneOffsets>()

/**
 * The offsets of a zone, from the time zone data of Node's Intl; worked out a year at a time when asked for, and remembered.
 *
 * @param timeZone - An IANA name that `checkTimeZone` accepts.
 */
export function zoneOffsets(timeZone: string): ZoneOffsets {
  const known = zones.get(timeZone)
  if (known) return known
  const offsets = timeZone === 'UTC' ? UTC : new IntlOffsets(timeZone)
  if (zones.size >= MAX_ZONES) zones.clear()
  zones.set(timeZone, offsets)
  return offsets
}

const ALWAYS: ZoneSegment = { start: -Infinity, end: Infinity, offset: 0, before: 0, after: 0 }
const UTC: ZoneOffsets = { segmentAt: () => ALWAYS }

class IntlOffsets implements ZoneOffsets {
  readonly #format: Intl.DateTimeFormat
  readonly #windows = new Map<number, readonly ZoneSegment[]>()
  /** Most questions are about the stretch of the question before. */
  #last: ZoneSegment | undefined

  constructor(timeZone: string) {
    this.#format = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
  }

  segmentAt(second: number): ZoneSegment {
    const last = this.#last
    if (last && second >= last.start + STEP && second < last.end - STEP) return last
    const segment = this.#window(Math.floor(second / WINDOW)).find((s) => second < s.end)
    if (!segment) throw new Error(`no offset is known for second ${second}`)
    this.#last = segment
    return segment
  }

  #window(index: number): readonly ZoneSegment[] {
    const known = this.#windows.get(index)
    if (known) return known
    const segments = this.#findSegments(index * WINDOW - STEP, (index + 1) * WINDOW + STEP)
    if (this.#windows.size >= MAX_WINDOWS) this.#windows.clear()
    this.#windows.set(index, segments)
    return segments
  }

  #findSegments(from: number, to: number): readonly ZoneSegment[] {
    const segments: ZoneSegment[] = []
    let start = from
    let before = this.#offsetAt(from)
    let offset = before
    for (let at = from; at < to; at += STEP) {
      const next = this.#offsetAt(at + STEP)
      if (next === offset) continue
      const change = this.#findChange(at, at + STEP, offset)
      segments.push({ start, end: change, offset, before, after: next })
      start = change
      before = offset
      offset = next
    }
    segments.push({ start, end: to, offset, before, after: offset })
    return segments
  }

  /** The first second in (from, to] whose offset is not `offset`. */
  #findChange(from: number, to: number, offset: number): number {
    let same = from
    let changed = to
    while (changed - same > 1) {
      const middle = Math.floor((same + changed) / 2)
      if (this.#offsetAt(middle) === offset) same = middle
      else changed = middle
    }
    return changed
  }

  #offsetAt(second: number): number {
    const text = this.#format.format(second * 1_000)
    const match = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(text)
    if (!match) throw new Error(`Intl gave no offset in "${text}"`)
    const [, sign, hours = '0', minutes = '0', seconds = '0'] = match
    const size = Number(hours) * 3_600 + Number(minutes) * 60 + Number(seconds)
    return sign === '-' ? -size : size
  }
}
