/**
 * How long a `Retry-After` header asks to wait, in milliseconds from `nowMs`; undefined when there is none or it makes no sense.
 * It is either a number of seconds or an HTTP date.
 */
export function retryAfterMs(header: string | null, nowMs: number): number | undefined {
  if (header === null) return undefined
  const text = header.trim()
  if (/^\d+$/.test(text)) return Number(text) * 1_000
  // only the form that HTTP prescribes: Date.parse alone would read "-5" as a year
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text)) return undefined
  const at = Date.parse(text)
  return Number.isNaN(at) ? undefined : Math.max(0, at - nowMs)
}
