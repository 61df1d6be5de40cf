import { type FieldViolation, TaskRejectedError } from './punctual-error.js'

/** Deeper is refused by the server; looking no deeper than this also ends the walk of a circular input. */
const MAX_NESTING = 30

/** A surrogate without its partner: UTF-8 cannot carry it, so it would arrive as another text. */
const LONE_SURROGATE = /[\ud800-\udfff]/u

/**
 * The JSON text of an input. `JSON.stringify` changes silently what JSON cannot say (NaN becomes null, a Map {}, a Date a text); here
 * that is an error with its path, since a handler that gets something else than was sent is hard to find.
 *
 * @throws {@link TaskRejectedError} with the path of each value that cannot be sent.
 */
export function toJsonText(input: unknown): string {
  const violations: FieldViolation[] = []
  inspect(input, 'task.input', 0, violations)
  if (violations.length > 0) {
    const message = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
    throw new TaskRejectedError({ message, violations })
  }
  return JSON.stringify(input)
}

/** @throws {@link TaskRejectedError} when a text holds half a character. */
export function checkText(text: string, field: string): string {
  if (!LONE_SURROGATE.test(text)) return text
  return refuseField(
    field,
    'holds half a surrogate pair, which is not text: it would arrive as something else',
  )
}

/** @throws {@link TaskRejectedError}, as the server would for this field. */
export function refuseField(field: string, description: string): never {
  throw new TaskRejectedError({ message: `${field}: ${description}`, violations: [{ field, description }] })
}

function inspect(value: unknown, path: string, depth: number, violations: FieldViolation[]): void {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) violations.push(refused(path, `${value} is not a JSON number`))
      return
    case 'object':
      if (value !== null) inspectObject(value, path, depth, violations)
      return
    case 'bigint':
      violations.push(refused(path, 'a bigint is not JSON: send it as a string'))
      return
    case 'undefined':
    case 'function':
    case 'symbol':
      violations.push(refused(path, `${typeof value} is not a JSON value`))
  }
}

function inspectObject(object: object, path: string, depth: number, violations: FieldViolation[]): void {
  if (depth >= MAX_NESTING) {
    violations.push(refused(path, `is nested deeper than ${MAX_NESTING}, or contains itself`))
    return
  }
  if (Array.isArray(object)) {
    let index = 0
    // not forEach or entries: a hole would be passed over, or cost a pair for each member
    for (const member of object) {
      if (isPlain(member)) index++
      else inspect(member, `${path}[${index++}]`, depth + 1, violations)
    }
    return
  }
  const prototype: unknown = Object.getPrototypeOf(object)
  if (prototype !== Object.prototype && prototype !== null) {
    const hint = object instanceof Date ? ': send its toISOString()' : ''
    violations.push(refused(path, `a ${object.constructor.name} is not a JSON value${hint}`))
    return
  }
  for (const key of Object.keys(object)) {
    const member = (object as Record<string, unknown>)[key]
    // undefined: an optional field that is not there, as JSON.stringify has it
    if (member !== undefined && !isPlain(member)) inspect(member, `${path}.${key}`, depth + 1, violations)
  }
}

/** Most members, told before their path is put together. */
function isPlain(value: unknown): boolean {
  return typeof value === 'string' || value === null || typeof value === 'boolean' || Number.isFinite(value)
}

const refused = (field: string, description: string): FieldViolation => ({ field, description })
