import { describe, expect, it } from 'vitest'
import { ThreadLog } from '../../server/executor/thread-log.js'
import type { LogMessage } from '../../server/executor/thread-protocol.js'

function threadLog() {
  const lines: LogMessage[] = []
  const clock = { now: 0 }
  return {
    lines,
    clock,
    log: new ThreadLog(
      (line) => lines.push(line),
      () => clock.now,
    ),
  }
}

describe('a line of a handler', () => {
  it('has its message, its facts as plain values, and the facts of its attempt', () => {
    const { log, lines } = threadLog()
    const logger = log.for({ taskId: 'a' })
    logger.info('done', { count: 2, ok: true, name: 'x', big: 10n, list: [1], taskId: 'forged' })
    expect(lines).toEqual([
      {
        kind: 'log',
        level: 'info',
        message: 'done',
        facts: { count: 2, ok: true, name: 'x', big: '10n', list: '[ 1 ]', taskId: 'a' },
      },
    ])
  })

  it('moves no terminal and forges no other line', () => {
    const { log, lines } = threadLog()
    log.for({}).error('a\r\nb\u001b[2J\u2028\u0000', { 'key\n': 'c\u009b' })
    expect(lines[0]).toMatchObject({
      message: 'a\\u000d\\nb\\u001b[2J\\u2028\\u0000',
      facts: { 'key\\n': 'c\\u009b' },
    })
  })

  it('is cut, has at most 16 facts, and takes whatever it is given', () => {
    const { log, lines } = threadLog()
    const many = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`fact${index}`, 'x'.repeat(10_000)]),
    )
    log.for({}).warn('y'.repeat(10_000), many)
    expect(lines[0]?.message.length).toBeLessThanOrEqual(2_048)
    expect(Object.values(lines[0]?.facts ?? {})).toHaveLength(16)
    expect(String(lines[0]?.facts['fact0']).length).toBeLessThanOrEqual(1_024)
    log.for({}).info(undefined as never, 'no object' as never)
    log.for({}).info('null', null as never)
    expect(lines.slice(1)).toMatchObject([
      { message: 'undefined', facts: { value: 'no object' } },
      { facts: {} },
    ])
  })
})

describe('a flood of lines', () => {
  it('is let through at its start, then in drops, and says how much is missing', () => {
    const { log, lines, clock } = threadLog()
    const logger = log.for({})
    for (let line = 0; line < 10_000; line++) logger.info('x')
    expect(lines).toHaveLength(500)
    clock.now += 1_000
    for (let line = 0; line < 10_000; line++) logger.info('x')
    expect(lines).toHaveLength(600)
    expect(lines[500]?.facts).toEqual({ linesDropped: 9_500 })
    expect(lines[501]?.facts).toEqual({})
  })
})
