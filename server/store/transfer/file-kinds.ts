import { z } from 'zod'
import type { AttemptError } from '../../task/outcome.js'
import type { Labels, Payload } from '../../task/task-spec.js'
import { NO_PAYLOAD } from '../../task/task-spec.js'
import { readTime } from './time-text.js'

/*
 * What the members of a line may be. Each kind reads what `write-line` wrote: a member that was left out is 0, false or empty.
 */

const NO_LABELS: Labels = Object.freeze({})

/** What is wrong with a member: that it is not there, or what it must be. */
const must = (be: string) => ({
  error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is missing' : `must be ${be}`),
})

export const text = z.string(must('text'))
export const name = text.min(1, 'must not be empty')
export const count = z.int(must('a whole number')).min(0, 'must not be negative').max(Number.MAX_SAFE_INTEGER)
export const fromOne = z.int(must('a whole number from 1')).min(1, 'must be at least 1')
export const between = (least: number, most: number) =>
  z
    .number(must('a number'))
    .min(least, `must be from ${least} to ${most}`)
    .max(most, `must be from ${least} to ${most}`)
const flag = z.boolean(must('true or false'))
export const instant = timeOf(3, 'a time in UTC, such as 2026-12-01T10:00:00.000Z')
const micros = timeOf(6, 'a time in UTC, such as 2026-12-01T10:00:00.000250Z')
export const bytes = text.transform((given, context) => {
  const read = Buffer.from(given, 'base64')
  // base64 that is cut off or has other characters would be read as something shorter
  if (read.toString('base64') !== given)
    context.issues.push({ code: 'custom', input: given, message: 'must be base64' })
  return new Uint8Array(read)
})
export const labels = z.record(text, text, must('an object of texts')).default(NO_LABELS) as z.ZodType<Labels>

/** Left out: 0, false, empty. */
export const someText = text.default('')
export const someCount = count.default(0)
export const someFlag = flag.default(false)
export const someInstant = instant.default(0)
export const someMicros = micros.default(0)
export const someTexts = z.array(text, must('a list of texts')).default(() => [])

export const error: z.ZodType<AttemptError> = z.strictObject({
  code: someText,
  message: someText,
  stack: someText,
  name: someText,
  cause: someText,
})

/** A payload by which of its members is there. */
export function payloadOf(json: string | undefined, opaque: Uint8Array | undefined, hash?: string): Payload {
  if (json !== undefined) return { kind: 'json', text: json }
  if (opaque !== undefined) return { kind: 'bytes', bytes: opaque }
  return hash === undefined ? NO_PAYLOAD : { kind: 'forgotten', hash }
}

export const jsonText = text.refine(isJson, 'must be JSON, as text')

function isJson(given: string): boolean {
  try {
    JSON.parse(given)
    return true
  } catch {
    return false
  }
}

function timeOf(digits: 3 | 6, be: string) {
  return z.string(must(be)).transform((given, context) => {
    const read = readTime(given, digits)
    if (read === undefined) context.issues.push({ code: 'custom', input: given, message: `must be ${be}` })
    return read ?? 0
  })
}
