import type { Violation } from '../task/errors.js'
import { jsonPath, type PathStep } from './json-path.js'
import { FIXED_LIMITS } from './limits.js'

/**
 * What an ordinary text never holds: an integer of 16 digits, a three-digit exponent, `__proto__` (escaped or not), half a surrogate pair. Nearly every input
 * passes this and the count of levels, so the walk below, which knows paths, is rarely paid.
 */
const SUSPICIOUS = /\d{16}|[eE]\+?\d{3}|__proto__|\\u(?:[dD][89a-fA-F]|00[5-7])/
/** More of them help nobody. */
const MAX_FOUND = 100
const QUOTE = 0x22
const BACKSLASH = 0x5c

/**
 * Adds what is wrong with a JSON text that a caller sent: not JSON, nested deeper than 30, a key `__proto__`, an integer beyond 2^53 or a number beyond a double
 * (both would change silently), text that is not Unicode. Each with its path.
 *
 * @param field - Where the text stood, such as `task.input_json`; paths go on from there.
 * @example checkJson('{"n": 9007199254740993}', 'task.input_json', found) // field: task.input_json.n
 */
export function checkJson(text: string, field: string, found: Violation[]): void {
  if (!text.isWellFormed()) {
    found.push({ field, description: 'is not valid UTF-8 text' })
    return
  }
  // before it is parsed: half a second for 500,000 levels
  if (levels(text) > FIXED_LIMITS.maxJsonDepth) {
    found.push({ field, description: `is nested deeper than ${FIXED_LIMITS.maxJsonDepth} levels` })
    return
  }
  try {
    JSON.parse(text)
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    found.push({ field, description: `is not JSON: ${why}. Send what json.dumps or JSON.stringify gives` })
    return
  }
  if (SUSPICIOUS.test(text)) walk(text, field, found)
}

/** How deep a text is nested, if it is JSON. */
function levels(text: string): number {
  let depth = 0
  let deepest = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code === QUOTE) i = endOfString(text, i)
    else if (code === 0x5b || code === 0x7b) deepest = Math.max(deepest, ++depth)
    else if (code === 0x5d || code === 0x7d) depth--
  }
  return deepest
}

/** Index of the quote that ends the string which begins at `start`, or of the end of the text. */
function endOfString(text: string, start: number): number {
  let i = start + 1
  while (i < text.length && text.charCodeAt(i) !== QUOTE) i += text.charCodeAt(i) === BACKSLASH ? 2 : 1
  return i
}

/** Walks valid JSON token by token. */
function walk(text: string, field: string, found: Violation[]): void {
  const path: PathStep[] = []
  const report = (description: string): void => {
    if (found.length < MAX_FOUND) found.push({ field: field + jsonPath(path), description })
  }
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*|[[\]{},:]/g
  let key: string | undefined
  for (const [token] of text.matchAll(tokens)) {
    const top = path.at(-1)
    if (token === ',') {
      if (typeof top === 'number') path[path.length - 1] = top + 1
      else key = undefined
    } else if (token === '{' || token === '[') {
      path.push(token === '[' ? 0 : '')
      key = undefined
    } else if (token === '}' || token === ']') {
      path.pop()
      key = ''
    } else if (token.startsWith('"')) {
      const value = JSON.parse(token) as string
      if (typeof top === 'string' && key === undefined) {
        key = value
        path[path.length - 1] = value
        if (value === '__proto__') report('is a key that JavaScript programs cannot keep: rename it')
      }
      if (!value.isWellFormed()) report('holds half of a surrogate pair, which is not Unicode text')
    } else if (token !== ':') {
      checkNumber(token, report)
    }
  }
}

function checkNumber(token: string, report: (description: string) => void): void {
  if (!Number.isFinite(Number(token))) report(`${cut(token)} is too large for a number: send it as a string`)
  else if (/^-?\d{16,}$/.test(token) && !isExact(BigInt(token))) {
    report(`${cut(token)} is an integer beyond 2^53, which would be rounded: send it as a string`)
  }
}

const LARGEST = 2n ** 53n
const isExact = (value: bigint): boolean => value <= LARGEST && value >= -LARGEST
const cut = (token: string): string => (token.length > 24 ? `${token.slice(0, 24)}…` : token)
