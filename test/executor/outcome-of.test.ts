import { describe, expect, it } from 'vitest'
import { failureOf } from '../../server/executor/outcome-of.js'
import { TaskError } from '../../server/handlers/index.js'

const message = (thrown: unknown) => failureOf(thrown).error.message

describe('what a handler throws becomes plain data:', () => {
  it('a TaskError with its code, and whether another attempt makes sense', () => {
    expect(failureOf(new TaskError('declined', { code: 'CARD_DECLINED', retryable: false }))).toMatchObject({
      kind: 'failed',
      retryable: false,
      error: { code: 'CARD_DECLINED', message: 'declined', name: 'TaskError' },
    })
    expect(failureOf(new TaskError('later'))).toMatchObject({
      retryable: true,
      error: { code: 'HANDLER_ERROR' },
    })
  })

  it('any error, retryable, with its own code if it has one', () => {
    class QuotaError extends Error {}
    expect(failureOf(new QuotaError('enough'))).toMatchObject({
      retryable: true,
      error: { code: 'HANDLER_ERROR', name: 'QuotaError', message: 'enough' },
    })
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })
    expect(failureOf(refused).error.code).toBe('ECONNREFUSED')
    const numbered = Object.assign(new Error('grpc'), { code: 14 })
    expect(failureOf(numbered).error.code).toBe('HANDLER_ERROR')
  })

  it('an error of another realm, or copied through a thread', () => {
    const copied = structuredClone(new RangeError('far'))
    expect(failureOf(copied).error).toMatchObject({ name: 'RangeError', message: 'far' })
    expect(failureOf({ name: 'Odd', message: 'like an error', stack: 'here' }).error).toMatchObject({
      name: 'Odd',
      message: 'like an error',
      stack: 'here',
    })
  })

  it('the causes of an error, to the fifth, and the errors of an aggregate', () => {
    const deep = new Error('top', { cause: new TypeError('middle', { cause: 'the root' }) })
    expect(failureOf(deep).error.cause).toBe('TypeError: middle; caused by "the root"')
    const circle = new Error('a')
    circle.cause = new Error('b', { cause: circle })
    expect(failureOf(circle).error.cause.split('; caused by ')).toHaveLength(5)
    const none = new AggregateError([new Error('one'), 'two'], 'all failed')
    expect(failureOf(none).error.cause).toBe('Error: one | "two"')
  })

  it.each([
    ['boom', 'the handler threw "boom"'],
    ['', 'the handler threw an empty text'],
    [undefined, 'the handler threw undefined'],
    [null, 'the handler threw null'],
    [42, 'the handler threw 42'],
    [10n, 'the handler threw 10n'],
    [Symbol('s'), 'the handler threw Symbol(s)'],
    [{ a: 1, f() {} }, 'the handler threw { a: 1, f: [Function: f] }'],
  ])('%o, as a text for people', (thrown, expected) => {
    expect(message(thrown)).toBe(expected)
  })

  it('things that hold themselves, or cannot be read', () => {
    const circle: Record<string, unknown> = {}
    circle['self'] = circle
    expect(message(circle)).toContain('[Circular')
    const closed = new Proxy(new Error('x'), {
      get() {
        throw new Error('no')
      },
    })
    expect(message(closed)).toBe('the handler threw something that cannot be read')
  })

  it('an error without a message, under its name', () => {
    expect(message(new SyntaxError())).toBe('SyntaxError')
  })

  it('long texts cut, and marked', () => {
    const error = new Error('ä'.repeat(1_000_000))
    error.stack = 'x'.repeat(100_000)
    const failed = failureOf(Object.assign(error, { code: 'C'.repeat(1_000) })).error
    expect(Buffer.byteLength(failed.message)).toBeLessThanOrEqual(2_048)
    expect(failed.message).toMatch(/ä… \[cut, 1000000 characters in all\]$/)
    expect(Buffer.byteLength(failed.stack)).toBeLessThanOrEqual(8_192)
    expect(Buffer.byteLength(failed.code)).toBeLessThanOrEqual(128)
  })

  it('texts that are well-formed, whatever they were', () => {
    expect(message(new Error('a\ud800b'))).toBe('a\ufffdb')
  })
})
