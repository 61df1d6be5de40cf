import { pathText } from '../handlers/schema-check.js'
import { ERROR_CODES } from '../task/outcome.js'
import { NO_PAYLOAD, type Payload } from '../task/task-spec.js'
import { type Failure, failure } from './outcome-of.js'

/** Containers inside containers: a protobuf Value nested deeper cannot be decoded by every client. */
const MAX_DEPTH = 30

/**
 * What a handler returned, as it is stored: a JSON value as text, a Uint8Array as bytes, `undefined` as none. Whatever would not come back as it was given
 * fails, with its path; of an object, properties that are `undefined` are left out, as JSON does.
 *
 * @param maxBytes - Of the JSON text, or of the bytes.
 * @example outputPayload({ value: 55 }, 1024) // { kind: 'json', text: '{"value":55}' }
 */
export function outputPayload(value: unknown, maxBytes: number): Payload | Failure {
  if (value === undefined) return NO_PAYLOAD
  if (value instanceof Uint8Array) {
    if (value.byteLength > maxBytes) return tooLarge(`${value.byteLength} bytes`, maxBytes)
    // A copy: the handler may go on writing into its buffer.
    return { kind: 'bytes', bytes: Uint8Array.from(value) }
  }
  const walk: Walk = { ancestors: [], left: maxBytes }
  try {
    const fault = faultOf(value, walk)
    if (fault === TOO_LARGE) return tooLarge(`more than ${maxBytes} bytes`, maxBytes)
    if (fault !== undefined) return notStorable(fault)
    const text = JSON.stringify(value)
    if (text.length > maxBytes || (text.length * 3 > maxBytes && Buffer.byteLength(text) > maxBytes))
      return tooLarge(`${Buffer.byteLength(text)} bytes`, maxBytes)
    return { kind: 'json', text }
  } catch (error) {
    // A getter or proxy threw, or gave something else on the second look.
    return notStorable(`output: reading it threw: ${error instanceof Error ? error.message : String(error)}`)
  }
}

interface Walk {
  /** The containers around the value that is looked at. */
  readonly ancestors: object[]
  /** Bytes that may still come: a graph that shares its parts can be endless as a tree. */
  left: number
}

const TOO_LARGE = Symbol('too large')

/** @returns what cannot be stored, starting with its path from the value looked at; undefined = nothing. */
function faultOf(value: unknown, walk: Walk): string | typeof TOO_LARGE | undefined {
  walk.left -= typeof value === 'string' ? value.length + 2 : 1
  if (walk.left < 0) return TOO_LARGE
  if (value === null || typeof value === 'boolean') return undefined
  if (typeof value === 'object') return containerFault(value, walk)
  if (typeof value === 'string')
    return value.isWellFormed() ? undefined : 'output: the text is not well-formed Unicode (a lone surrogate)'
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `output: ${value} is no JSON value`
  return `output: ${NO_JSON.get(typeof value)} is no JSON value`
}

const NO_JSON = new Map([
  ['undefined', 'undefined (in a list)'],
  ['bigint', 'a bigint (give it as a text)'],
  ['function', 'a function'],
  ['symbol', 'a symbol'],
])

function containerFault(value: object, walk: Walk): string | typeof TOO_LARGE | undefined {
  if (walk.ancestors.includes(value)) return 'output: it contains itself'
  if (walk.ancestors.length >= MAX_DEPTH) return `output: nested deeper than ${MAX_DEPTH}`
  const kind = classOf(value)
  if (kind !== undefined) return `output: ${kind} is no JSON value`
  walk.ancestors.push(value)
  const fault = Array.isArray(value) ? listFault(value, walk) : objectFault(value, walk)
  walk.ancestors.pop()
  return fault
}

function listFault(list: readonly unknown[], walk: Walk): string | typeof TOO_LARGE | undefined {
  for (let index = 0; index < list.length; index++) {
    const fault = faultOf(list[index], walk)
    if (fault !== undefined) return below(index, fault)
  }
  return undefined
}

function objectFault(value: object, walk: Walk): string | typeof TOO_LARGE | undefined {
  if (Object.getOwnPropertySymbols(value).length > 0) return 'output: a key that is a symbol would be lost'
  for (const [key, member] of Object.entries(value) as [string, unknown][]) {
    if (key === '__proto__') return "output: a key may not be named '__proto__'"
    if (member === undefined) continue
    walk.left -= key.length + 3
    const fault = key.isWellFormed() ? faultOf(member, walk) : 'output: its key is not well-formed Unicode'
    if (fault !== undefined) return below(key, fault)
  }
  return undefined
}

/** @returns what an object is when it is more than a list or a plain object: its class would be lost. */
function classOf(value: object): string | undefined {
  if (Array.isArray(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  // Plain, without a prototype, or plain in another realm.
  if (prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null)
    return undefined
  const maker: unknown = Reflect.get(value, 'constructor')
  const name = typeof maker === 'function' && maker.name !== '' ? maker.name : 'of an unnamed class'
  return name === 'Date' ? 'a Date (give its toISOString())' : `an object of class ${name}`
}

function below(key: string | number, fault: string | typeof TOO_LARGE): string | typeof TOO_LARGE {
  return fault === TOO_LARGE ? fault : `output${pathText([key])}${fault.slice('output'.length)}`
}

function notStorable(why: string): Failure {
  return failure(ERROR_CODES.outputNotStorable, `the output cannot be stored: ${why}`, { retryable: false })
}

function tooLarge(size: string, maxBytes: number): Failure {
  return failure(
    ERROR_CODES.outputTooLarge,
    `the output is too large: ${size}, at most ${maxBytes} are kept`,
    {
      retryable: false,
    },
  )
}
