import { InvalidArgumentError } from 'commander'
import type { ResultOutcome, TaskState } from '../client/index.js'

const STATES = ['scheduled', 'running', 'succeeded', 'failed', 'cancelled', 'expired'] as const
const OUTCOMES = ['succeeded', 'failed', 'timedOut', 'cancelled', 'expired', 'skipped'] as const

/** Gathers a flag that may be given several times, or once with commas. */
export const several = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(','),
]

/** Gathers `key=value` flags. */
export function label(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const equals = text.indexOf('=')
  if (equals < 1) throw new InvalidArgumentError(`say a label as key=value, got '${text}'.`)
  return { ...before, [text.slice(0, equals)]: text.slice(equals + 1) }
}

/** Task states by name, in any spelling. */
export const states = (text: string, before: readonly TaskState[] = []): TaskState[] => [
  ...before,
  ...text.split(',').map((word) => choice(word, STATES, 'state')),
]

/** Outcomes by name, in any spelling: timed_out, timed-out, TIMED_OUT. */
export const outcomes = (text: string, before: readonly ResultOutcome[] = []): ResultOutcome[] => [
  ...before,
  ...text.split(',').map((word) => choice(word, OUTCOMES, 'outcome')),
]

/** A whole number within limits. */
export function whole(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (/^-?\d+$/.test(text) && value >= min && value <= max) return value
    throw new InvalidArgumentError(`a whole number from ${min} to ${max} is needed, got '${text}'.`)
  }
}

/** One of some words, in any spelling: queue_one, queue-one, queueOne. */
function choice<const Word extends string>(text: string, words: readonly Word[], what: string): Word {
  const same = (word: string): string => word.replaceAll(/[-_]/g, '').toLowerCase()
  const found = words.find((word) => same(word) === same(text))
  if (found !== undefined) return found
  throw new InvalidArgumentError(`'${text}' is no ${what}: ${words.map(kebab).join(', ')}.`)
}

/** A flag whose value is one of some words. */
export const oneOf =
  <const Word extends string>(words: readonly Word[], what: string) =>
  (text: string): Word =>
    choice(text, words, what)

/** `queueOne` as `queue-one`. */
const kebab = (word: string): string => word.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
