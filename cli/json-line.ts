/** Data of users, whose keys are theirs. */
const OPAQUE = new Set(['input', 'output', 'labels', 'inputSchema', 'outputSchema', 'limits'])

/** Values that are words of ours, written as the keys are. */
const WORDS = new Set([
  'outcome',
  'skipReason',
  'cancelStage',
  'blockedReason',
  'overlap',
  'missed',
  'dstGap',
  'dstOverlap',
])

/**
 * One JSON object on one line, for scripts: keys and words as in the `.proto` files (`due_time`, `timed_out`), times in UTC, bytes in base64
 * under `input_base64` and `output_base64`.
 */
export function jsonLine(value: unknown): string {
  return JSON.stringify(plain(value))
}

/** `timedOut` as `timed_out`. */
const snakeCase = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (value instanceof Date) return value.toISOString()
  if (value instanceof Error) return { name: value.name, message: value.message }
  if (typeof value !== 'object' || value === null) return value
  const object: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    if (member instanceof Uint8Array)
      object[`${snakeCase(key)}_base64`] = Buffer.from(member).toString('base64')
    else if (OPAQUE.has(key)) object[snakeCase(key)] = member
    else if (WORDS.has(key) && typeof member === 'string') object[snakeCase(key)] = snakeCase(member)
    else object[snakeCase(key)] = plain(member)
  }
  return object
}
