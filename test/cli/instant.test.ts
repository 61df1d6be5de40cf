import { describe, expect, it } from 'vitest'
import { parseInstant, parsePast } from '../../cli/instant.js'
import { parseJsonArgument } from '../../cli/json-argument.js'
import { jsonLine } from '../../cli/json-line.js'
import { printable } from '../../cli/printable.js'

describe('a time', () => {
  it.each([
    ['2027-03-13T12:00:00Z', '2027-03-13T12:00:00.000Z'],
    ['2027-03-13T12:00Z', '2027-03-13T12:00:00.000Z'],
    ['2027-03-13 12:00:00.25Z', '2027-03-13T12:00:00.250Z'],
    ['2027-03-13T12:00:00+01:00', '2027-03-13T11:00:00.000Z'],
    ['2027-03-13T12:00:00-0530', '2027-03-13T17:30:00.000Z'],
    // rounded up, so that nothing is early
    ['2027-03-13T12:00:00.0000001Z', '2027-03-13T12:00:00.001Z'],
    ['2028-02-29T00:00:00Z', '2028-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => {
    expect(parseInstant(text).toISOString()).toBe(iso)
  })

  it('without a zone is that of this machine', () => {
    expect(parseInstant('2027-03-13T12:00:00')).toEqual(new Date(2027, 2, 13, 12))
    expect(parseInstant('2027-03-13')).toEqual(new Date(2027, 2, 13))
  })

  it.each([
    '2027-02-30T00:00:00Z',
    '2027-13-01T00:00:00Z',
    '2027-03-13T25:00:00Z',
    'tomorrow',
    '12:00',
    '1798761600',
    '',
  ])('%j is an error', (text) => {
    expect(() => parseInstant(text)).toThrow('is no time')
  })

  it('in the past may be said as how long ago', () => {
    const now = Date.UTC(2030, 0, 1)
    expect(parsePast('1h', now).toISOString()).toBe('2029-12-31T23:00:00.000Z')
    expect(parsePast('2029-01-01T00:00:00Z', now).toISOString()).toBe('2029-01-01T00:00:00.000Z')
    expect(() => parsePast('yesterday', now)).toThrow('neither a time')
  })
})

describe('a JSON argument', () => {
  it('is its value', () => {
    expect(parseJsonArgument('{"n": [1, -2.5e3, "9007199254740993", null]}')).toEqual({
      n: [1, -2_500, '9007199254740993', null],
    })
  })

  it('is refused when a number would be rounded', () => {
    expect(() => parseJsonArgument('{"id": 9007199254740993}')).toThrow('beyond 2^53 and would be rounded')
  })

  it('is refused when it is not JSON, with what was probably meant', () => {
    expect(() => parseJsonArgument('hello')).toThrow(`A text needs quotes: '"hello"'`)
  })
})

describe('a line of JSON', () => {
  it('has keys and words as the .proto files have them; what is the user’s own stays as it is', () => {
    const value = {
      dueTime: new Date(0),
      outcome: 'timedOut',
      output: { myKey: 1, timedOut: true },
      labels: { teamName: 'x' },
      latenessMs: 1.5,
      missing: undefined,
      tasks: [{ cancelRequested: true }],
    }
    expect(JSON.parse(jsonLine(value))).toEqual({
      due_time: '1970-01-01T00:00:00.000Z',
      outcome: 'timed_out',
      output: { myKey: 1, timedOut: true },
      labels: { teamName: 'x' },
      lateness_ms: 1.5,
      tasks: [{ cancel_requested: true }],
    })
  })

  it('has bytes in base64', () => {
    expect(jsonLine({ output: new Uint8Array([1, 2, 3]) })).toBe('{"output_base64":"AQID"}')
  })
})

describe('text of others', () => {
  it('cannot move the cursor, colour the screen or begin a line', () => {
    expect(printable('a\n\u001b[31mred\u0007\u2028')).toBe('a\\n\\u001b[31mred\\u0007\\u2028')
  })
})
