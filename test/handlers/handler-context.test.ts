import { describe, expect, it } from 'vitest'
import {
  AttemptContext,
  type ContextServices,
  type StopReason,
} from '../../server/handlers/handler-context.js'
import { SILENT } from '../../server/task/log.js'

const FACTS = {
  taskId: 'invoice/7',
  run: 2,
  attempt: 3,
  dueTime: Date.UTC(2026, 0, 2),
  labels: { team: 'a' },
}

function context(services: Partial<ContextServices<typeof FACTS>> = {}): AttemptContext<typeof FACTS> {
  return new AttemptContext(FACTS, { loggerFor: () => SILENT, sleep: () => Promise.resolve(), ...services })
}

/** Sleeps that end when they are told to, or when their signal aborts. */
const untilAborted = (_: number, signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))

describe('the context of an attempt', () => {
  it('tells which attempt it is, and gives the run a key for others to do the work once', () => {
    const { taskId, run, attempt, idempotencyKey, dueTime, labels } = context()
    expect({ taskId, run, attempt, idempotencyKey, dueTime, labels }).toEqual({
      taskId: 'invoice/7',
      run: 2,
      attempt: 3,
      idempotencyKey: 'invoice/7/2',
      dueTime: new Date('2026-01-02T00:00:00Z'),
      labels: { team: 'a' },
    })
  })

  it('has a span that records nothing when nobody traces', () => {
    const { span } = context()
    expect(span.isRecording()).toBe(false)
    expect(span.setAttribute('a', 1)).toBe(span)
  })

  it.each<[StopReason, string]>([
    ['cancelled', 'AbortError'],
    ['timedOut', 'TimeoutError'],
    ['serverStops', 'AbortError'],
  ])('aborts its signal when the attempt is %s, asked for before or after', (reason, name) => {
    const before = context()
    const { signal } = before
    before.stop(reason)
    const after = context()
    after.stop(reason)
    for (const stopped of [signal, after.signal]) {
      expect(stopped.aborted).toBe(true)
      expect(stopped.reason).toMatchObject({ name })
      expect(() => stopped.throwIfAborted()).toThrow(stopped.reason as Error)
    }
  })

  it('tells a loop that never awaits, through aborted and throwIfAborted, and its listeners then too', () => {
    const requests: StopReason[] = []
    const { signal } = context({ stopRequested: () => requests[0] })
    let heard = 0
    signal.addEventListener('abort', () => heard++)
    expect(signal.aborted).toBe(false)
    signal.throwIfAborted()
    requests.push('cancelled')
    expect(() => signal.throwIfAborted()).toThrow('the task was cancelled')
    expect([signal.aborted, heard]).toEqual([true, 1])
  })

  it('has a signal that works with AbortSignal.any', () => {
    const attempt = context({ stopRequested: () => undefined })
    const any = AbortSignal.any([attempt.signal, new AbortController().signal])
    attempt.stop('cancelled')
    expect(any.aborted).toBe(true)
  })

  it('sleeps no longer than the attempt may run', async () => {
    const attempt = context({ sleep: untilAborted })
    const slept = attempt.sleep(60_000)
    attempt.stop('timedOut')
    await expect(slept).rejects.toMatchObject({ name: 'TimeoutError' })
    await expect(attempt.sleep(1)).rejects.toMatchObject({ name: 'TimeoutError' })
  })

  it.each([-1, Number.NaN, Infinity])('refuses to sleep for %d ms', async (ms) => {
    await expect(context().sleep(ms)).rejects.toThrow('ms must be a finite number of 0 or more')
  })
})
