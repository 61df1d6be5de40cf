/** What a log may show of a value: plain, bounded, and free of what a caller or a handler confides. */

const LEFT_OUT = '[left out]'
const MAX_DEPTH = 5
const MAX_ITEMS = 50
const MAX_TEXT = 4_000

/** Names of what callers confide: payloads, and whatever opens a door. */
const CONFIDED =
  /^(payload|input|output|body|text|bytes|metadata|headers?|cookie|authorization|token|secret|credentials?|key|cert|password|passphrase)$|(password|secret|token|authorization|credential|api_?-?key)|^(input|output)[_A-Z]/i

/**
 * Makes a value fit for a log line: bigints and dates as text, bytes as their number, errors with their cause, deep or long things cut and marked, and what
 * is named like a payload or a credential left out.
 *
 * @example loggable({ count: 10n, payload: '{"password":1}' }) // { count: '10', payload: '[left out]' }
 */
export function loggable(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return cut(value)
  if (typeof value === 'bigint' || typeof value === 'symbol') return String(value)
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value)
  if (typeof value === 'function') return `[function ${value.name}]`
  return typeof value === 'object' && value !== null ? loggableObject(value, depth) : value
}

function loggableObject(value: object, depth: number): unknown {
  if (value instanceof Error) return loggableError(value, depth)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString()
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `[${value.byteLength} bytes]`
  if (depth >= MAX_DEPTH) return '[too deep]'
  if (value instanceof Map) return loggable(Object.fromEntries(value), depth)
  if (value instanceof Set) return loggable([...value], depth)
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => loggable(item, depth + 1))
    return value.length > MAX_ITEMS ? [...items, `[${value.length - MAX_ITEMS} more]`] : items
  }
  return loggableFields(value, depth)
}

function loggableFields(value: object, depth: number): Record<string, unknown> {
  const keys = Object.keys(value)
  const fields = keys.slice(0, MAX_ITEMS).map((key): [string, unknown] => {
    const field = fieldOf(value, key)
    return [cut(key, 100), isConfided(key, field) ? LEFT_OUT : loggable(field, depth + 1)]
  })
  const result: Record<string, unknown> = Object.fromEntries(fields)
  if (keys.length > MAX_ITEMS) result['[more]'] = keys.length - MAX_ITEMS
  return result
}

/** A getter may throw; whoever logs must not. */
function fieldOf(value: object, key: string): unknown {
  try {
    return Reflect.get(value, key)
  } catch {
    return '[cannot be read]'
  }
}

/** A number is a size or a count, whatever its name. */
const isConfided = (key: string, field: unknown): boolean =>
  CONFIDED.test(key) && (typeof field === 'string' || (typeof field === 'object' && field !== null))

/** Of an error only what says what happened: some carry a whole request, with its headers. */
function loggableError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error
  const facts: Record<string, unknown> = { type: name, message: cut(message), stack: cut(stack ?? '') }
  for (const key of ['code', 'reason']) {
    const value: unknown = Reflect.get(error, key)
    if (typeof value === 'string' || typeof value === 'number') facts[key] = value
  }
  if (depth >= MAX_DEPTH) return facts
  if (cause !== undefined) facts['cause'] = loggable(cause, depth + 1)
  if (error instanceof AggregateError) facts['errors'] = loggable(error.errors, depth + 1)
  return facts
}

function cut(text: string, max = MAX_TEXT): string {
  return text.length > max ? `${text.slice(0, max)}… [${text.length - max} more]` : text
}
