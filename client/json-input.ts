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
  if (value === null) return
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return
    case 'number':
      if (!Number.isFinite(value)) refuse(`${value} is not a JSON number`)
      return
    case 'object':
      inspectObject(value)
      return
    case 'bigint':
      refuse('a bigint is not JSON: send it as a string')
      return
    case 'undefined':
    case 'function':
    case 'symbol':
      refuse(`${typeof value} is not a JSON value`)
  }

  function refuse(description: string): void {
    violations.push({ field: path, description })
  }

  function inspectObject(object: object): void {
    if (depth >= MAX_NESTING) {
      refuse(`is nested deeper than ${MAX_NESTING}, or contains itself`)
      return
    }
    if (Array.isArray(object)) {
      for (const [index, member] of object.entries()) {
        inspect(member, `${path}[${index}]`, depth + 1, violations)
      }
      return
    }
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null) {
      const name = object.constructor.name
      const hint = object instanceof Date ? ': send its toISOString()' : ''
      refuse(`a ${name} is not a JSON value${hint}`)
      return
    }
    for (const [key, member] of Object.entries(object)) {
      // an optional field that is not there, as JSON.stringify has it
      if (member !== undefined) inspect(member, `${path}.${key}`, depth + 1, violations)
    }
  }
}
