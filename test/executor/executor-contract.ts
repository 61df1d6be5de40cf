import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AttemptRequest, Executor } from '../../server/executor/executor.js'
import { DUE, attemptRequest } from './attempt-request.js'
import type { RecordedEvents } from './recorded-events.js'

/** An executor under test: it has the handlers of `contract-handlers`, 2 slots of lane `thread`, 4 of lane `shared`. */
export interface ExecutorHarness {
  readonly executor: Executor
  /** Who was given to `listen`. */
  readonly events: RecordedEvents
  /** Lets time pass, virtual or real, until `condition` holds. Rejects when it never does. */
  until(condition: () => boolean): Promise<void>
}

/** What every executor promises; times are short, since some need real ones. */
export function executorContract(name: string, open: () => Promise<ExecutorHarness>): void {
  describe(`${name}, as an executor`, () => {
    let harness: ExecutorHarness
    /** Attempts are numbered from 1 in each test, although one executor runs them all: real threads are slow to start. */
    let base = 0
    beforeAll(async () => {
      harness = await open()
    })
    beforeEach(() => {
      base += 1_000
    })
    afterEach(async () => {
      const ids = [1, 2, 3, 4].filter((id) => began(id) && !haveEnded(id))
      for (const id of ids) stop(id, 10_000)
      await ended(...ids)
    })
    afterAll(() => harness.executor.close())

    const request = (id: number, handler: string, input?: unknown, given: Partial<AttemptRequest> = {}) =>
      attemptRequest(base + id, handler, input, given)
    const start = (...burst: Parameters<Executor['start']>) => harness.executor.start(...burst)
    const stop = (id: number, graceMs: number) => harness.executor.stop(base + id, graceMs)
    const until = (condition: () => boolean) => harness.until(condition)
    const told = (what: string) => harness.events.told.indexOf(what)
    const times = (what: string, id: number) => harness.events.count(`${what} ${base + id}`)
    const began = (...ids: number[]) => ids.every((id) => times('began', id) > 0)
    const released = (id: number) => times('released', id) > 0
    const end = (id: number) => harness.events.ends.get(base + id)
    const outcome = (id: number) => harness.events.outcome(base + id)
    const haveEnded = (...ids: number[]) => ids.every((id) => end(id) !== undefined)
    const ended = (...ids: number[]) => until(() => haveEnded(...ids))
    const json = (value: unknown) => ({ kind: 'json', text: JSON.stringify(value) })

    describe('runs', () => {
      it('the members of a burst one after another, and tells of each as begun, then ended', async () => {
        start(
          'thread',
          [1, 2, 3].map((id) => request(id, id === 2 ? 'soon' : 'echo', { id })),
        )
        await ended(1, 2, 3)
        for (const id of [1, 2, 3]) {
          expect(outcome(id)).toEqual({ kind: 'succeeded', output: json({ id }) })
          expect(told(`began ${base + id}`)).toBeLessThan(told(`ended ${base + id}`))
          expect(times('ended', id)).toBe(1)
        }
        const [first, second, third] = [1, 2, 3].map((id) => end(id))
        expect(first?.startTimeUs).toBeGreaterThan(0)
        expect(first?.endTimeUs).toBeGreaterThanOrEqual(first?.startTimeUs ?? Infinity)
        expect(second?.startTimeUs).toBeGreaterThanOrEqual(first?.endTimeUs ?? Infinity)
        expect(third?.startTimeUs).toBeGreaterThanOrEqual(second?.endTimeUs ?? Infinity)
        expect(first?.workerId).not.toBe('')
        expect(harness.events.workerIds.get(base + 1)).toBe(first?.workerId)
      })

      it('as many bursts at once as it has slots, and tells nothing before start has returned', async () => {
        start('thread', [request(1, 'listen')])
        start('thread', [request(2, 'listen')])
        expect(began(1) || began(2)).toBe(false)
        await until(() => began(1, 2))
        expect(haveEnded(1) || haveEnded(2)).toBe(false)
      })

      it('attempts of lane shared beside each other', async () => {
        for (const id of [1, 2, 3]) start('shared', [request(id, 'share-hold', `key-${id}`)])
        await until(() => began(1, 2, 3))
        start('shared', [request(4, 'share-free', 'key-2')])
        await ended(2, 4)
        expect(haveEnded(1) || haveEnded(3)).toBe(false)
        for (const [id, key] of [
          [5, 1],
          [6, 3],
        ] as const)
          start('shared', [request(id, 'share-free', `key-${key}`)])
        await ended(1, 3)
      })

      it('a handler with the facts of its attempt', async () => {
        start('thread', [
          request(1, 'facts', undefined, { taskId: 'invoice/7', run: 3, attempt: 2, labels: { team: 'a' } }),
        ])
        await ended(1)
        expect(outcome(1)).toEqual({
          kind: 'succeeded',
          output: json({
            taskId: 'invoice/7',
            run: 3,
            attempt: 2,
            idempotencyKey: 'invoice/7/3',
            dueTime: new Date(DUE).toISOString(),
            labels: { team: 'a' },
          }),
        })
      })

      it('a handler with its input after its schema, and refuses what does not fit', async () => {
        start('thread', [request(1, 'double', { n: 4 }), request(2, 'double', { n: 'four' })])
        await ended(1, 2)
        expect(outcome(1)).toEqual({ kind: 'succeeded', output: json(8) })
        expect(outcome(2)).toMatchObject({
          kind: 'failed',
          retryable: false,
          error: { code: 'INVALID_INPUT', message: expect.stringContaining('input.n') as string },
        })
      })
    })

    describe('keeps', () => {
      it('bytes as bytes, nothing as nothing, and a long output whole', async () => {
        const bytes = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
        const long = 'ä'.repeat(100_000)
        start('thread', [
          request(1, 'echo', undefined, { payload: { kind: 'bytes', bytes } }),
          request(2, 'echo'),
          request(3, 'echo', long),
        ])
        await ended(1, 2, 3)
        expect(outcome(1)).toEqual({ kind: 'succeeded', output: { kind: 'bytes', bytes } })
        expect(outcome(2)).toEqual({ kind: 'succeeded', output: { kind: 'none' } })
        expect(outcome(3)).toEqual({ kind: 'succeeded', output: json(long) })
      })

      it('of an error its code, message, class, stack and cause', async () => {
        start('thread', [request(1, 'fail')])
        await ended(1)
        expect(outcome(1)).toEqual({
          kind: 'failed',
          retryable: false,
          error: {
            code: 'ASKED',
            message: 'as asked',
            name: 'TaskError',
            stack: expect.stringContaining('contract-handlers') as string,
            cause: 'RangeError: the reason',
          },
        })
      })

      it('no output that would not come back as it was given', async () => {
        start('thread', [request(1, 'date')])
        await ended(1)
        expect(outcome(1)).toMatchObject({
          kind: 'failed',
          error: { code: 'OUTPUT_NOT_STORABLE', message: expect.stringContaining('output.at') as string },
        })
      })
    })

    describe('stops', () => {
      it('a member of a burst that has not begun, so that it never does; the others are not touched', async () => {
        start('thread', [request(1, 'wait', 50), request(2, 'echo', 2), request(3, 'echo', 3)])
        await until(() => began(1))
        expect(stop(2, 60_000)).toBe(true)
        await ended(1, 2, 3)
        expect(outcome(2)).toEqual({ kind: 'cancelled', stage: 'neverStarted' })
        expect(began(2)).toBe(false)
        expect(outcome(1)).toMatchObject({ kind: 'succeeded' })
        expect(outcome(3)).toMatchObject({ kind: 'succeeded' })
      })

      it('a running attempt by its signal; its outcome is cancelled whatever the handler returns', async () => {
        start('thread', [request(1, 'listen')])
        start('shared', [request(2, 'share-wait', 60_000)])
        await until(() => began(1, 2))
        expect(stop(1, 60_000)).toBe(true)
        expect(stop(2, 60_000)).toBe(true)
        await ended(1, 2)
        expect(outcome(1)).toEqual({ kind: 'cancelled', stage: 'cooperative' })
        expect(outcome(2)).toEqual({ kind: 'cancelled', stage: 'cooperative' })
      })

      it('once: a second stop is no second outcome, and a later one finds nothing', async () => {
        start('thread', [request(1, 'wait', 60_000)])
        await until(() => began(1))
        stop(1, 60_000)
        stop(1, 60_000)
        await ended(1)
        expect(times('ended', 1)).toBe(1)
        expect(stop(1, 0)).toBe(false)
        expect(stop(99, 0)).toBe(false)
      })

      it('nobody but the attempt that is meant', async () => {
        start('thread', [request(1, 'wait', 60_000)])
        start('thread', [request(2, 'wait', 100)])
        start('shared', [request(3, 'share-wait', 100)])
        start('shared', [request(4, 'share-wait', 60_000)])
        await until(() => began(1, 2, 3, 4))
        stop(1, 60_000)
        stop(4, 60_000)
        await ended(1, 2, 3, 4)
        expect(outcome(2)).toMatchObject({ kind: 'succeeded' })
        expect(outcome(3)).toMatchObject({ kind: 'succeeded' })
      })

      it('an attempt that takes longer than its time-out', async () => {
        start('thread', [request(1, 'wait', 60_000, { timeoutMs: 50 })])
        start('thread', [request(2, 'wait', 10, { timeoutMs: 60_000 })])
        await ended(1, 2)
        expect(outcome(1)).toEqual({ kind: 'timedOut', stage: 'cooperative' })
        expect(outcome(2)).toMatchObject({ kind: 'succeeded' })
      })

      it('no attempt for the time in which it waited behind others', async () => {
        start('thread', [request(1, 'wait', 400), request(2, 'wait', 10, { timeoutMs: 250 })])
        await ended(1, 2)
        expect(outcome(2)).toMatchObject({ kind: 'succeeded' })
      })

      it('an attempt of lane shared that does not listen only for those who wait for it: its slot is free when it has ended', async () => {
        start('shared', [request(1, 'share-hold', 'stubborn')])
        await until(() => began(1))
        stop(1, 10)
        await ended(1)
        expect(end(1)).toMatchObject({
          outcome: { kind: 'cancelled', stage: 'terminated' },
          lingering: true,
        })
        expect(released(1)).toBe(false)
        start('shared', [request(2, 'share-free', 'stubborn')])
        await until(() => released(1))
        expect(times('ended', 1)).toBe(1)
      })
    })

    describe('closes', () => {
      it('at once: what runs is interrupted, what has not begun goes back, and nothing starts after it', async () => {
        const own = await open()
        const { executor, events } = own
        executor.start('thread', [request(1, 'listen'), request(2, 'echo', 2)])
        executor.start('shared', [request(3, 'share-hold', 'closing')])
        await own.until(() => events.has(`began ${base + 1}`) && events.has(`began ${base + 3}`))
        await Promise.all([executor.close(), executor.close()])
        expect(events.outcome(base + 1)).toMatchObject({ kind: 'interrupted' })
        expect(events.outcome(base + 3)).toMatchObject({ kind: 'interrupted' })
        expect(events.has(`returned ${base + 2}`)).toBe(true)
        executor.start('thread', [request(4, 'echo', 4)])
        await own.until(() => events.has(`returned ${base + 4}`))
        expect(events.has(`began ${base + 4}`)).toBe(false)
      })
    })
  })
}
