import { InvalidArgumentError } from 'commander'

const STRINGS = /"(?:[^"\\]|\\.)*"/g
const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * The value of a JSON text.
 *
 * @throws InvalidArgumentError when it is not JSON, or holds an integer that would be rounded.
 */
export function parseJsonArgument(text: string): unknown {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    const hint = /^[\w.-]+$/.test(text.trim()) ? ` A text needs quotes: '"${text.trim()}"'.` : ''
    const why = error instanceof Error ? error.message : String(error)
    throw new InvalidArgumentError(`the input is not JSON: ${why}.${hint}`)
  }
  for (const [number] of text.replaceAll(STRINGS, '""').matchAll(NUMBERS)) {
    if (/^-?\d+$/.test(number) && !Number.isSafeInteger(Number(number))) {
      throw new InvalidArgumentError(`${number} is beyond 2^53 and would be rounded: send it as a string.`)
    }
  }
  return value
}
