import { inspect } from 'node:util'
import { type AttemptError, type AttemptOutcome, ERROR_CODES } from '../task/outcome.js'
import { cutText } from './cut-text.js'

/** How a failed attempt is told. */
export type Failure = Extract<AttemptOutcome, { kind: 'failed' }>

const MAX_MESSAGE_BYTES = 2_048
const MAX_STACK_BYTES = 8_192
const MAX_CODE_BYTES = 128
const MAX_CAUSES = 5

/**
 * What a handler threw, as plain data: an error loses class and fields when it crosses a thread. Anything may be thrown, also what cannot be read.
 *
 * @example failureOf(new TaskError('declined', { code: 'CARD_DECLINED', retryable: false }))
 */
export function failureOf(thrown: unknown): Failure {
  try {
    if (isErrorLike(thrown)) return failureOfError(thrown)
    return failure(ERROR_CODES.handler, `the handler threw ${shown(thrown)}`, { name: typeName(thrown) })
  } catch {
    // Getters and proxies may throw when they are read.
    return failure(ERROR_CODES.handler, 'the handler threw something that cannot be read')
  }
}

/** A failure that the server found. `retryable`: whether another attempt could end better. */
export function failure(
  code: string,
  message: string,
  more: Partial<Pick<AttemptError, 'name' | 'stack' | 'cause'>> & { readonly retryable?: boolean } = {},
): Failure {
  return {
    kind: 'failed',
    retryable: more.retryable ?? true,
    error: {
      code: cutText(code, MAX_CODE_BYTES),
      message: cutText(message, MAX_MESSAGE_BYTES),
      stack: cutText(more.stack ?? '', MAX_STACK_BYTES),
      name: cutText(more.name ?? 'Error', MAX_CODE_BYTES),
      cause: cutText(more.cause ?? '', MAX_MESSAGE_BYTES),
    },
  }
}

function failureOfError(error: Error): Failure {
  const code = textField(error, 'code') || ERROR_CODES.handler
  const name = className(error)
  return failure(code, typeof error.message === 'string' && error.message !== '' ? error.message : name, {
    name,
    stack: textField(error, 'stack'),
    cause: causeOf(error),
    retryable: Reflect.get(error, 'retryable') !== false,
  })
}

/** Errors of another realm or copied through a thread are no instances of ours. */
function isErrorLike(thrown: unknown): thrown is Error {
  return (
    thrown instanceof Error ||
    (typeof thrown === 'object' &&
      thrown !== null &&
      typeof Reflect.get(thrown, 'message') === 'string' &&
      typeof Reflect.get(thrown, 'stack') === 'string')
  )
}

/** A class that forgot to set `name` still tells its own. */
function className(error: Error): string {
  const name = textField(error, 'name')
  if (name !== '' && name !== 'Error') return name
  const constructor: unknown = Reflect.get(error, 'constructor')
  return (typeof constructor === 'function' && constructor.name) || name || 'Error'
}

function causeOf(error: Error): string {
  const causes: string[] = []
  let next: unknown = error
  while (causes.length < MAX_CAUSES && typeof next === 'object' && next !== null) {
    const inner: unknown = Reflect.get(next, 'errors')
    // Promise.any rejects with an AggregateError whose message says nothing of its reasons.
    if (Array.isArray(inner) && inner.length > 0)
      causes.push(inner.slice(0, MAX_CAUSES).map(describe).join(' | '))
    next = Reflect.get(next, 'cause')
    if (next === undefined || next === null) break
    causes.push(describe(next))
  }
  return causes.join('; caused by ')
}

function describe(value: unknown): string {
  if (!isErrorLike(value)) return shown(value)
  const code = textField(value, 'code')
  return `${className(value)}: ${value.message}${code === '' ? '' : ` (${code})`}`
}

function shown(value: unknown): string {
  if (typeof value === 'string')
    return value === '' ? 'an empty text' : JSON.stringify(value.slice(0, MAX_MESSAGE_BYTES))
  return inspect(value, {
    depth: 2,
    maxArrayLength: 20,
    maxStringLength: 500,
    breakLength: 120,
    getters: false,
  })
}

function textField(error: object, field: string): string {
  const value: unknown = Reflect.get(error, field)
  return typeof value === 'string' ? value : ''
}

function typeName(value: unknown): string {
  return value === null ? 'null' : typeof value
}
