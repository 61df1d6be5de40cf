import { describe, expect, it } from 'vitest'
import { differences } from '../../server/admission/same-spec.js'
import type { TaskSpec } from '../../server/task/task-spec.js'
import { aSpec } from './specs.js'

const json = (text: string): Partial<TaskSpec> => ({ payload: { kind: 'json', text } })

describe('two specs are the same', () => {
  it.each<[string, Partial<TaskSpec>, Partial<TaskSpec>]>([
    ['with the same content', {}, {}],
    [
      'whatever the order of keys and the spaces',
      json('{"a":1,"b":[1,2]}'),
      json('{ "b": [1, 2], "a": 1.0 }'),
    ],
    ['whatever the order of labels', { labels: { a: '1', b: '2' } }, { labels: { b: '2', a: '1' } }],
    ['in another trace', { traceparent: 'a', tracestate: 'b' }, { traceparent: 'c', tracestate: '' }],
    ['from another origin', { origin: 'a' }, { origin: 'b' }],
    ['with the same bytes', bytes(1, 2), bytes(1, 2)],
    ['with the same delay', { when: { kind: 'after', delayMs: 5 } }, { when: { kind: 'after', delayMs: 5 } }],
  ])('%s', (_, a, b) => {
    expect(differences(aSpec(a), aSpec(b))).toEqual([])
  })

  it.each<[string, Partial<TaskSpec>, string]>([
    ['another handler', { handler: 'sleep' }, 'handler'],
    ['another input', json('{"a":2}'), 'input'],
    ['null instead of none', json('null'), 'input'],
    ['bytes instead of JSON', bytes(49), 'input'],
    ['a delay instead of now', { when: { kind: 'after', delayMs: 0 } }, 'due_time/delay'],
    ['another time-out', { attemptTimeoutMs: 1 }, 'attempt_timeout'],
    ['an expiry', { startWithinMs: 1_000 }, 'start_within'],
    ['another priority', { priority: 1 }, 'priority'],
    ['another label', { labels: { a: '2' } }, 'labels'],
    ['a recurrence', { recurrence: { kind: 'minInterval', intervalMs: 100 } }, 'recurrence'],
  ])('but not with %s', (_, change, field) => {
    expect(differences(aSpec(), aSpec(change))).toEqual([field])
    expect(differences(aSpec(change), aSpec())).toEqual([field])
  })

  it('and every difference is named', () => {
    expect(differences(aSpec(), aSpec({ handler: 'sleep', priority: 1, atMostOnce: true }))).toEqual([
      'handler',
      'priority',
      'at_most_once',
    ])
  })
})

function bytes(...values: number[]): Partial<TaskSpec> {
  return { payload: { kind: 'bytes', bytes: Uint8Array.from(values) } }
}
