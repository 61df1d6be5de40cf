import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { outputPayload } from '../../server/executor/output-payload.js'

const MIB = 1024 * 1024
const payload = (value: unknown, maxBytes = MIB) => outputPayload(value, maxBytes)

function fault(value: unknown, maxBytes = MIB): string {
  const failed = payload(value, maxBytes)
  return failed.kind === 'failed'
    ? `${failed.error.code}: ${failed.error.message}`
    : `stored as ${failed.kind}`
}

function nested(depth: number, list: boolean): unknown {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = list ? [value] : { a: value }
  return value
}

describe('an output is kept', () => {
  it('as it is, when it is a JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (value) => {
        // JSON knows no −0, and 'fast-check' may make a key that is refused
        fc.pre(!JSON.stringify(value).includes('__proto__'))
        expect(payload(value)).toEqual({ kind: 'json', text: JSON.stringify(value) })
      }),
    )
  })

  it('as nothing, when it is undefined; null is a value', () => {
    expect(payload(undefined)).toEqual({ kind: 'none' })
    expect(payload(null)).toEqual({ kind: 'json', text: 'null' })
  })

  it('as bytes, when it is a Uint8Array or Buffer: a copy', () => {
    const bytes = Buffer.from([1, 2, 3])
    const kept = payload(bytes)
    bytes[0] = 9
    expect(kept).toEqual({ kind: 'bytes', bytes: Uint8Array.from([1, 2, 3]) })
  })

  it('without the properties of an object that are undefined', () => {
    expect(payload({ a: undefined, b: 1 })).toEqual({ kind: 'json', text: '{"b":1}' })
  })

  it('when it is an object without a prototype', () => {
    expect(payload(Object.assign(Object.create(null), { a: 1 }))).toEqual({ kind: 'json', text: '{"a":1}' })
  })

  it.each([true, false])('down to 30 levels of nesting, not 31 (lists: %s) (C132)', (list) => {
    expect(payload(nested(30, list))).toMatchObject({ kind: 'json' })
    expect(fault(nested(31, list))).toContain('nested deeper than 30')
    expect(fault(nested(20_000, list))).toContain('nested deeper than 30')
  })
})

describe('an output that would not come back as it was given is refused with its path (C137):', () => {
  class Money {
    readonly amount = 1
  }
  const circle: Record<string, unknown> = {}
  circle['self'] = { again: circle }
  it.each<[string, unknown, string]>([
    ['a Date', { at: new Date(0) }, 'output.at: a Date (give its toISOString())'],
    ['a Map', [new Map()], 'output[0]: an object of class Map'],
    ['a Set', { 'odd key': new Set() }, 'output["odd key"]: an object of class Set'],
    ['a class instance', { a: { b: [1, new Money()] } }, 'output.a.b[1]: an object of class Money'],
    ['a RegExp', /a/, 'output: an object of class RegExp'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'output: an object of class ArrayBuffer'],
    ['other typed arrays', Float64Array.of(1), 'output: an object of class Float64Array'],
    ['a boxed value', { n: Object(1) as unknown }, 'output.n: an object of class Number'],
    ['a bigint', { n: 10n }, 'output.n: a bigint (give it as a text)'],
    ['NaN', [0, Number.NaN], 'output[1]: NaN'],
    ['an infinity', -Infinity, 'output: -Infinity'],
    ['a function', { f() {} }, 'output.f: a function'],
    ['a symbol', Symbol('s'), 'output: a symbol'],
    ['a key that is a symbol', { [Symbol('s')]: 1 }, 'output: a key that is a symbol'],
    ['undefined in a list', [undefined], 'output[0]: undefined (in a list)'],
    // oxlint-disable-next-line no-sparse-arrays
    ['a hole in a list', [1, , 2], 'output[1]: undefined (in a list)'],
    ['itself', circle, 'output.self.again: it contains itself'],
    [
      'a key named __proto__',
      JSON.parse('{"a":{"__proto__":1}}'),
      "output.a: a key may not be named '__proto__'",
    ],
    ['half a character', ['\ud800'], 'output[0]: the text is not well-formed'],
    ['half a character in a key', { '\ud800': 1 }, 'its key is not well-formed'],
  ])('%s', (_, value, expected) => {
    expect(fault(value)).toContain(`OUTPUT_NOT_STORABLE: the output cannot be stored: `)
    expect(fault(value)).toContain(expected)
  })

  it('what throws when it is read, or changes while it is', () => {
    expect(
      fault({
        get bad(): number {
          throw new Error('not now')
        },
      }),
    ).toContain('reading it threw: not now')
    let looks = 0
    const fickle = {
      get value(): unknown {
        return looks++ === 0 ? 1 : 10n
      },
    }
    expect(fault(fickle)).toContain('OUTPUT_NOT_STORABLE')
  })

  it('and is never retried: it would be the same again', () => {
    expect(payload(new Map())).toMatchObject({ kind: 'failed', retryable: false })
  })
})

describe('an output that is too large is refused:', () => {
  it('by its bytes, not its characters', () => {
    expect(payload('ä'.repeat(5), 12)).toMatchObject({ kind: 'json' })
    expect(fault('ä'.repeat(6), 12)).toContain('OUTPUT_TOO_LARGE')
    expect(fault(new Uint8Array(13), 12)).toContain('OUTPUT_TOO_LARGE: the output is too large: 13 bytes')
  })

  it('before it is written out, when shared parts make it endless', () => {
    let wide: unknown = ['x']
    for (let level = 0; level < 28; level++) wide = [wide, wide, wide, wide]
    expect(fault(wide)).toContain('OUTPUT_TOO_LARGE')
  })
})
