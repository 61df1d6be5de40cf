import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AttemptRequest } from '../../server/executor/executor.js'
import { attemptRequest } from '../executor/attempt-request.js'
import { openThreads, type ThreadHarness } from './thread-harness.js'

let harness: ThreadHarness
/** Standing still is not noticed, unless a test is about it: a thread that fills its memory stands still too. */
async function open(heartbeatLimitMs = 60_000): Promise<void> {
  harness = await openThreads(new URL('./faulty-handlers.ts', import.meta.url), {
    threadSlots: 1,
    memoryLimitMb: 48,
    times: { watchMs: 100, heartbeatLimitMs, lingerLimitMs: 500 },
  })
}
afterEach(() => harness.executor.close())

const start = (id: number, handler: string, input?: unknown, given: Partial<AttemptRequest> = {}) =>
  harness.executor.start('shared', [attemptRequest(id, handler, input, given)])
const began = (...ids: number[]) => harness.until(() => ids.every((id) => harness.events.has(`began ${id}`)))
const workerOf = (id: number) => harness.events.workerIds.get(id)

async function outcomeOf(id: number) {
  await harness.until(() => harness.events.haveEnded(id))
  return harness.events.outcome(id)
}

/** The lane works on. What was given to the thread that was about to end goes back, as often as need be. */
async function expectWorks(id: number): Promise<void> {
  start(id, 'share-good', id)
  await harness.until(() => harness.events.haveEnded(id) || harness.events.has(`returned ${id}`))
  if (harness.events.has(`returned ${id}`)) return expectWorks(id + 1)
  expect(harness.events.outcome(id)).toMatchObject({ kind: 'succeeded' })
}

const interrupted = { kind: 'interrupted', reason: expect.any(String) as string }

describe('a shared thread dies', () => {
  beforeEach(() => open())

  it('by an exit: who called it has failed, its neighbours are interrupted and not suspects', async () => {
    start(1, 'share-wait', 60_000)
    await began(1)
    start(2, 'share-exit')
    expect(await outcomeOf(2)).toMatchObject({ kind: 'failed', error: { code: 'WORKER_EXITED' } })
    expect(await outcomeOf(1)).toEqual(interrupted)
    await expectWorks(10)
  })

  it('for want of memory: nobody knows who filled it, so all are suspects', async () => {
    start(1, 'share-wait', 60_000)
    await began(1)
    start(2, 'share-fill-memory')
    expect(await outcomeOf(1)).toEqual({ ...interrupted, suspect: true })
    expect(await outcomeOf(2)).toEqual({ ...interrupted, suspect: true })
    await expectWorks(10)
  })

  it('for want of memory while one attempt alone was in it: that one has failed', async () => {
    start(1, 'share-fill-memory')
    expect(await outcomeOf(1)).toMatchObject({ kind: 'failed', error: { code: 'OUT_OF_MEMORY' } })
  })
})

describe('a shared thread stands still', () => {
  beforeEach(() => open(1_500))

  it('in a handler that was just called: that one has failed, its neighbours are interrupted', async () => {
    start(1, 'share-wait', 60_000)
    await began(1)
    start(2, 'share-loop')
    expect(await outcomeOf(2)).toMatchObject({
      kind: 'failed',
      error: { code: 'WORKER_CRASHED', message: expect.stringContaining('event loop') as string },
    })
    expect(await outcomeOf(1)).toEqual(interrupted)
    await expectWorks(10)
  })

  it('is not what one does that has slept for want of work, nor one whose handler takes long', async () => {
    start(1, 'share-good', 1)
    expect(await outcomeOf(1)).toMatchObject({ kind: 'succeeded' })
    await sleep(2_500)
    const worker = workerOf(1)
    start(2, 'share-wait', 3_000)
    expect(await outcomeOf(2)).toMatchObject({ kind: 'succeeded' })
    expect(workerOf(2)).toBe(worker)
  })

  it('some time after: all are suspects', async () => {
    start(1, 'share-wait', 60_000)
    start(2, 'share-loop-later')
    expect(await outcomeOf(1)).toEqual({ ...interrupted, suspect: true })
    expect(await outcomeOf(2)).toEqual({ ...interrupted, suspect: true })
  })
})

describe('an attempt in quarantine', () => {
  beforeEach(() => open())

  it('has a thread of its own: it dies alone, and its neighbours do not notice', async () => {
    start(1, 'share-wait', 60_000)
    await began(1)
    start(2, 'share-exit', undefined, { alone: true })
    expect(await outcomeOf(2)).toMatchObject({ kind: 'failed', error: { code: 'WORKER_EXITED' } })
    expect(workerOf(2)).not.toBe(workerOf(1))
    expect(harness.events.haveEnded(1)).toBe(false)
    start(3, 'share-good', 3, { alone: true })
    expect(await outcomeOf(3)).toMatchObject({ kind: 'succeeded' })
  })
})

describe('a stopped attempt that does not end', () => {
  beforeEach(() => open())

  it('is given up after its grace; later its thread takes no new ones, and is stopped by force at last', async () => {
    start(1, 'share-deaf', 60_000)
    start(2, 'share-wait', 60_000)
    await began(1, 2)
    harness.executor.stop(1, 10)
    expect(await outcomeOf(1)).toEqual({ kind: 'cancelled', stage: 'terminated' })
    expect(harness.events.ends.get(1)?.lingering).toBe(true)
    await harness.until(() => harness.events.has('released 1'))
    expect(harness.events.count('ended 1')).toBe(1)
    expect(await outcomeOf(2)).toEqual({ ...interrupted, suspect: true })
    await expectWorks(10)
  })

  it('holds up nobody else: who ends by itself meanwhile keeps its outcome', async () => {
    start(1, 'share-deaf', 60_000)
    start(2, 'share-wait', 700)
    await began(1, 2)
    harness.executor.stop(1, 10)
    expect(await outcomeOf(2)).toMatchObject({ kind: 'succeeded' })
    await harness.until(() => harness.events.has('released 1'))
  })
})

describe('an error from a timer of a shared attempt', () => {
  beforeEach(() => open())

  it('fails that attempt alone; its neighbours go on to their end, and the thread is replaced', async () => {
    start(1, 'share-wait', 500)
    start(2, 'share-own-timer')
    expect(await outcomeOf(2)).toMatchObject({ kind: 'failed', error: { message: 'from its own timer' } })
    start(3, 'share-good', 3)
    expect(await outcomeOf(3)).toMatchObject({ kind: 'succeeded' })
    expect(await outcomeOf(1)).toMatchObject({ kind: 'succeeded' })
    expect(workerOf(3)).not.toBe(workerOf(1))
  })
})
