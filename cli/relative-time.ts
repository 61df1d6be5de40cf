const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]

/** A span of time for people: its two largest units, such as "2 h 30 min", "1.5 s" or "250 ms". */
export function showDuration(ms: number): string {
  if (shorten(ms) < 1_000) return `${shorten(ms)} ms`
  if (shorten(ms / 1_000) < 60) return `${shorten(ms / 1_000)} s`
  for (const [index, [name, unitMs]] of UNITS.entries()) {
    const [smallName, smallMs] = UNITS[index + 1] ?? ['ms', 1]
    // rounded first: 59 min 59.9 s is an hour, not 60 min
    const smalls = Math.round(ms / smallMs)
    const perLarge = unitMs / smallMs
    if (smalls < perLarge) continue
    const rest = smalls % perLarge
    return `${Math.floor(smalls / perLarge)} ${name}${rest === 0 ? '' : ` ${rest} ${smallName}`}`
  }
  return `${shorten(ms / 1_000)} s`
}

/** A point in time as seen from now: "in 5 s", "3 min ago", "now". */
export function showRelative(time: Date, now: number): string {
  const ms = time.getTime() - now
  if (ms === 0) return 'now'
  return ms > 0 ? `in ${showDuration(ms)}` : `${showDuration(-ms)} ago`
}

/** A point in time, exactly and as seen from now. */
export const showTime = (time: Date, now: number): string =>
  `${time.toISOString()} (${showRelative(time, now)})`

/** At most three digits that matter. */
function shorten(value: number): number {
  const decimals = value < 10 ? 100 : value < 100 ? 10 : 1
  return Math.round(value * decimals) / decimals
}
