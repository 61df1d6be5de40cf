import { describe, expect, it } from 'vitest'
import { DEFAULT_LIMITS } from '../../server/admission/limits.js'
import { checkCall } from '../../server/admission/rules.js'
import type { ScheduleCall } from '../../server/admission/schedule-call.js'
import { DEFAULT_RETRY, type RetryPolicy } from '../../server/task/retry.js'
import type { TaskSpec } from '../../server/task/task-spec.js'
import { aCall } from './specs.js'

const NOW = Date.parse('2027-01-01T00:00:00Z')

function fields(spec: Partial<TaskSpec>, call: Partial<ScheduleCall> = {}): string[] {
  const checked = aCall(spec, call)
  checkCall(checked, DEFAULT_LIMITS, NOW)
  return checked.violations.map(({ field }) => field)
}
const retry = (change: Partial<RetryPolicy>): Partial<TaskSpec> => ({
  retry: { ...DEFAULT_RETRY, ...change },
})
const json = (text: string): Partial<TaskSpec> => ({ payload: { kind: 'json', text } })
const labels = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`key-${i}`, '']))

describe('a spec is accepted', () => {
  it.each<[string, Partial<TaskSpec>]>([
    ['with the least', {}],
    ['without an id, which asks for one', { id: '' }],
    ['with the longest id', { id: 'A'.repeat(128) }],
    ['with every character of an id', { id: 'AZaz09._:/-' }],
    ['with the largest input', json(`"${'x'.repeat(1024 * 1024 - 2)}"`)],
    ['due long ago, which is now', { when: { kind: 'at', dueTime: -1 } }],
    ['without a time-out', { attemptTimeoutMs: 0 }],
    ['at both ends of priority', { priority: -100 }],
    ['with 32 labels', { labels: labels(32) }],
    ['with labels counted in characters', { labels: { ['😀'.repeat(63)]: '😀'.repeat(256) } }],
    ['with a NUL in a label', { labels: { a: 'a\u0000b' } }],
    [
      'with a multiplier of a million',
      retry({ maxAttempts: 6, backoffMultiplier: 1_000_000, maxBackoffMs: 300 }),
    ],
    ['with a key of 256 bytes', { concurrencyKey: 'é'.repeat(128) }],
  ])('%s', (_, spec) => {
    expect(fields(spec)).toEqual([])
  })
})

describe('a spec is refused, by field', () => {
  it.each<[string, Partial<TaskSpec>, string]>([
    ['an id that is too long', { id: 'a'.repeat(129) }, 'task.id'],
    ['an id with a space at its end', { id: 'k ' }, 'task.id'],
    ['an id with an accent', { id: 'é' }, 'task.id'],
    ['no handler', { handler: '' }, 'task.handler'],
    ['an input of a byte too many', json(`"${'x'.repeat(1024 * 1024 - 1)}"`), 'task.input_json'],
    ['an input that is no JSON', json('{'), 'task.input_json'],
    ['a delay beyond the year 9999', { when: { kind: 'after', delayMs: 300_000_000_000_000 } }, 'task.delay'],
    ['no attempt at all', retry({ maxAttempts: 0 }), 'task.retry.max_attempts'],
    ['too many attempts', retry({ maxAttempts: 1_001 }), 'task.retry.max_attempts'],
    ['a back-off of nothing', retry({ initialBackoffMs: 0 }), 'task.retry.initial_backoff'],
    ['a multiplier below 1', retry({ backoffMultiplier: 0.5 }), 'task.retry.backoff_multiplier'],
    [
      'a multiplier that is no number',
      retry({ backoffMultiplier: Number.NaN }),
      'task.retry.backoff_multiplier',
    ],
    [
      'an infinite multiplier',
      retry({ backoffMultiplier: Number.POSITIVE_INFINITY }),
      'task.retry.backoff_multiplier',
    ],
    ['jitter of more than all', retry({ jitterRatio: 1.1 }), 'task.retry.jitter_ratio'],
    ['an empty code', retry({ nonRetryableCodes: ['A', ''] }), 'task.retry.non_retryable_codes[1]'],
    ['an expiry at once', { startWithinMs: 0 }, 'task.start_within'],
    ['priority 101', { priority: 101 }, 'task.priority'],
    ['a key of 258 bytes', { concurrencyKey: 'é'.repeat(129) }, 'task.concurrency_key'],
    ['33 labels', { labels: labels(33) }, 'task.labels'],
    ['a label without a key', { labels: { '': 'x' } }, 'task.labels'],
    ['a label with a long value', { labels: { a: 'x'.repeat(257) } }, 'task.labels["a"]'],
    ['a long origin', { origin: 'x'.repeat(129) }, 'task.origin'],
    ['an id forgotten at once', { rememberIdForMs: 1_000 }, 'task.remember_id_for'],
    [
      'retries of what may run once only',
      { ...retry({ maxAttempts: 2 }), atMostOnce: true },
      'task.at_most_once',
    ],
  ])('%s', (_, spec, field) => {
    expect(fields(spec)).toEqual([field])
  })

  it('a request id that is too long', () => {
    expect(fields({}, { requestId: 'x'.repeat(129) })).toEqual(['request_id'])
  })

  it('with every violation at once, behind those that reading found', () => {
    const violations = [{ field: 'task.due_time', description: 'must be a Timestamp' }]
    expect(fields({ id: ' ', handler: '', priority: 500, ...json('{') }, { violations })).toEqual([
      'task.due_time',
      'task.id',
      'task.handler',
      'task.input_json',
      'task.priority',
    ])
  })
})
