import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toJsonText } from '../../client/json-input.js'
import { fromRecurrenceMessage, type Recurrence, toRecurrenceMessage } from '../../client/recurrence.js'
import { toScheduleRequest } from '../../client/schedule-options.js'
import { encodedSizeAtMost } from '../../client/encoded-size.js'
import { backoffMs } from '../../client/retrying.js'
import { durationMs, toDate, toDuration, toMillis, toTimestamp } from '../../client/wire-time.js'
import { ScheduleRequest } from '../../proto/generated/punctual/v1/scheduler_service.js'

describe('times on the wire', () => {
  it('come back as they were, also before 1970, with nanos that count forward', () => {
    const instants = fc.date({
      noInvalidDate: true,
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
    })
    fc.assert(
      fc.property(instants, (date) => {
        const wire = toTimestamp(date, 'date')
        expect(wire.nanos).toBeGreaterThanOrEqual(0)
        expect(toDate(wire)).toEqual(date)
      }),
    )
  })

  it('keep microseconds as a number', () => {
    expect(toMillis({ seconds: 1_893_456_000n, nanos: 123_456_789 })).toBe(1_893_456_000_123.456)
  })

  it('durations come back as they were', () => {
    fc.assert(
      fc.property(fc.nat(2 ** 40), (ms) => {
        expect(durationMs(toDuration(ms, 'ms'))).toBe(ms)
      }),
    )
  })
})

describe('an input', () => {
  it('of JSON values arrives as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (value) => {
        expect(toJsonText(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  it('may leave optional fields undefined', () => {
    expect(toJsonText({ a: undefined, b: null })).toBe('{"b":null}')
  })
})

describe('the size of a request', () => {
  it('is never estimated too small', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 })
    const input = fc.jsonValue()
    const options = fc.record(
      {
        id: text,
        labels: fc.dictionary(
          text.filter((key) => key !== '__proto__'),
          text,
        ),
        concurrencyKey: text,
        priority: fc.integer({ min: -100, max: 100 }),
        delayMs: fc.nat(),
        attemptTimeoutMs: fc.nat(),
        startWithinMs: fc.nat(),
        retry: fc.record({
          maxAttempts: fc.integer({ min: 1, max: 1_000 }),
          jitterRatio: fc.double({ noNaN: true }),
          nonRetryableCodes: fc.array(text),
        }),
        recurrence: fc.record({ cron: text, timeZone: text, maxRuns: fc.nat(), jitterMs: fc.nat() }),
      },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(text, input, options, (handler, value, given) => {
        const request = toScheduleRequest(handler, value, given, { newId: () => 'id', origin: 'o' })
        expect(encodedSizeAtMost(request)).toBeGreaterThanOrEqual(
          ScheduleRequest.encode(request).finish().length,
        )
      }),
    )
  })
})

describe('a recurrence', () => {
  it.each<Recurrence>([
    { cron: '*/5 * * * *', timeZone: 'Europe/Berlin', dstGap: 'skip', dstOverlap: 'both' },
    { everyMs: 1_500, maxRuns: 3, overlap: 'queueOne', missed: 'runAll', jitterMs: 100 },
    { minIntervalMs: 6_000, until: new Date('2031-01-01T00:00:00Z') },
    { delayAfterMs: 250 },
  ])('comes back as it was: %j', (recurrence) => {
    expect(fromRecurrenceMessage(toRecurrenceMessage(recurrence))).toEqual(recurrence)
  })

  it('with a policy that does not exist is refused, naming the choices', () => {
    const wrong = { everyMs: 1_000, missed: 'never' } as unknown as Recurrence
    expect(() => toRecurrenceMessage(wrong)).toThrow('must be one of runOnce, runAll, skip; got never')
  })
})

describe('a back-off', () => {
  it('grows to its cap, is drawn from its upper half, and is never less than the server asks', () => {
    const policy = { firstMs: 100, maxMs: 3_000 }
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.nat(10_000),
        (failures, random, asked) => {
          const full = Math.min(3_000, 100 * 2 ** (failures - 1))
          const wait = backoffMs(policy, failures, random, asked)
          expect(wait).toBeGreaterThanOrEqual(Math.max(asked, full / 2))
          expect(wait).toBeLessThanOrEqual(Math.max(asked, full))
        },
      ),
    )
  })
})
