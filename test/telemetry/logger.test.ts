import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { describe, expect, it } from 'vitest'
import { createLogger, type LogLevel } from '../../server/telemetry/logger.js'

describe('a log line', () => {
  it('is one JSON object: level, time, message, facts', () => {
    const { log, lines, last } = logger()
    log.warn('the store was slow', { durationMs: 1_200 })
    expect(lines).toHaveLength(1)
    expect(last()).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      msg: 'the store was slow',
      durationMs: 1_200,
    })
  })

  it('carries the trace in which it was written', () => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    const span = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', traceFlags: 1 }
    const { log, last } = logger()
    context.with(trace.setSpanContext(context.active(), span), () => log.info('started'))
    expect(last()).toMatchObject({ trace_id: span.traceId, span_id: span.spanId })
    log.info('by itself')
    expect(last()).not.toHaveProperty('trace_id')
    context.disable()
  })

  it('names the trace of a task whose context is a fact', () => {
    const { log, last } = logger()
    log.info('from a thread', { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
    expect(last()).toMatchObject({ trace_id: '0af7651916cd43dd8448eb211c80319c' })
    expect(last()).not.toHaveProperty('traceparent')
  })

  it('keeps its own fields: a fact of that name moves aside', () => {
    const { log, last } = logger()
    log.info('hello', { level: 'fatal', msg: 'forged', time: 0 })
    expect(last()).toMatchObject({ level: 'info', msg: 'hello', level_: 'fatal', msg_: 'forged', time_: 0 })
  })

  it('is written only from its level on', () => {
    const { log, lines } = logger('warn')
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(['c', 'd'])
  })
})

describe('texts of users', () => {
  it('stay inside their line, and no terminal obeys them (C154)', () => {
    const { log, lines, last } = logger()
    const forged = '\n{"level":"fatal"}\u001b[31m\u009b2J\u007f\u2028\u202e\r\0'
    log.info(forged, { label: forged, [forged]: 1 })
    expect(lines).toHaveLength(1)
    // oxlint-disable-next-line no-control-regex
    expect(lines[0]?.trimEnd()).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u202e]/)
    expect(last()).toMatchObject({ msg: forged, label: forged, [forged]: 1 })
  })

  it('are cut when they are long', () => {
    const { log, lines } = logger()
    log.info('long', { text_of_label: 'x'.repeat(1_000_000) })
    expect(lines[0]?.length).toBeLessThan(5_000)
    expect(lines[0]).toContain('[996000 more]')
  })
})

describe('what callers and handlers confide', () => {
  it('is left out, however deep it lies (C147)', () => {
    const { log, lines } = logger('debug')
    const secret = 'S3CRET-XYZ'
    const spec = { id: 'a', payload: { kind: 'json', text: `{"password":"${secret}"}` } }
    log.debug('scheduled', {
      spec,
      input: secret,
      input_json: secret,
      outputJson: secret,
      metadata: { authorization: `Bearer ${secret}` },
      Authorization: secret,
      dbPassword: secret,
      apiKey: secret,
      nested: [{ credentials: { token: secret } }],
      bytes: Buffer.from(secret),
    })
    expect(lines.join()).not.toContain(secret)
    expect(lines.join()).toContain('"id":"a"')
  })

  it('is not mistaken for a size or a count', () => {
    const { log, last } = logger()
    log.info('grown', { bytes: 1_024, tokens: 3, input: 0 })
    expect(last()).toMatchObject({ bytes: 1_024, tokens: 3, input: 0 })
  })

  it('does not come along with an error that carries a request', () => {
    const { log, lines, last } = logger()
    const metadata = { authorization: 'Bearer S3CRET-XYZ' }
    const cause = Object.assign(new TypeError('no route'), { code: 14, metadata })
    log.error('the call failed', { error: new Error('cannot reach it', { cause }) })
    expect(lines.join()).not.toContain('S3CRET')
    expect(last()).toMatchObject({
      error: { type: 'Error', message: 'cannot reach it', cause: { type: 'TypeError', code: 14 } },
    })
  })
})

describe('values that JSON does not know (C131)', () => {
  it.each([
    ['a bigint', 10n, '10'],
    ['a bigint inside', { size: [2n ** 64n] }, { size: ['18446744073709551616'] }],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['no date', new Date(Number.NaN), 'Invalid Date'],
    ['not a number', Number.NaN, 'NaN'],
    ['bytes', new Uint8Array(3), '[3 bytes]'],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a set', new Set([1]), [1]],
    ['a function', function run() {}, '[function run]'],
    ['null', null, null],
  ])('%s', (_, value, expected) => {
    const { log, last } = logger()
    log.info('value', { value })
    expect(last()['value']).toEqual(expected)
  })

  it('fields that cannot be read', () => {
    const { log, last } = logger()
    const broken = Object.defineProperty({}, 'field', {
      enumerable: true,
      get() {
        throw new Error('no')
      },
    })
    log.info('value', { broken })
    expect(last()['broken']).toEqual({ field: '[cannot be read]' })
  })

  it('things that hold themselves', () => {
    const { log, lines } = logger()
    const loop: Record<string, unknown> = {}
    loop['self'] = loop
    log.info('value', { loop })
    expect(lines[0]).toContain('[too deep]')
  })

  it('lists and objects without end', () => {
    const { log, lines } = logger()
    const list = Array.from({ length: 1_000 }, (_, index) => index)
    log.info('value', { list, object: Object.fromEntries(list.map((index) => [`key${index}`, index])) })
    expect(lines[0]).toContain('[950 more]')
    expect(lines[0]).toContain('"[more]":950')
  })
})

function logger(level: LogLevel = 'info') {
  const lines: string[] = []
  const log = createLogger(level, { write: (line) => void lines.push(line) })
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> }
}
