import { describe, expect, it } from 'vitest'
import { Position, TaskView } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskState } from '../../proto/generated/punctual/v1/task.js'
import type { TaskStore } from '../../server/store/task-store.js'
import { override } from '../../server/telemetry/port-override.js'
import { aTask } from './requests.js'
import { failureOf, rpc, type RpcFailure, TestServer } from './test-server.js'

const inSeconds = (seconds: bigint) => ({ $case: 'delay' as const, value: { seconds, nanos: 0 } })

describe('a caller that goes away', () => {
  it('changes nothing for its task: it runs, and nobody cancels it (C065)', async () => {
    const test = await TestServer.start()
    const caller = test.client()
    const task = aTask({ id: 'a', handler: 'echo', when: inSeconds(2n) })
    await test.call(rpc.schedule, { task }, caller)
    const stream = test.stream({ start: { $case: 'position', value: Position.EARLIEST } }, { client: caller })
    await stream.next()
    caller.close()
    stream.call.cancel()
    const other = test.client()
    await expect.poll(async () => (await test.call(rpc.getStats, {}, other)).openStreams).toBe(0n)
    await test.clock.advance(2_000)
    const found = await test.call(rpc.getTask, { id: 'a' }, other)
    expect(found.task).toMatchObject({ state: TaskState.SUCCEEDED, attempts: 1, cancelRequested: false })
  })

  it('is not worked for any more: a list stops at the page that it was at (C119)', async () => {
    const gate = new Gate()
    let pages = 0
    const test = await TestServer.start({
      store: (store) =>
        override(store, {
          list: async (query) => {
            pages += 1
            await gate.opened
            return store.list(query)
          },
        }),
    })
    const requests = Array.from({ length: 1_000 }, () => ({
      task: aTask({ handler: 'echo', when: inSeconds(60n) }),
      onConflict: 0 as const,
      requestId: '',
    }))
    await test.call(rpc.scheduleBatch, { requests })
    const request = { pageSize: 1_000, pageToken: '', view: TaskView.FULL, filter: undefined }
    const bytes = rpc.listTasks.requestSerialize(request)
    const late = await failureOf(test.callRaw(rpc.listTasks.path, bytes, { deadline: Date.now() + 200 }))
    expect(late.code).toBe('DEADLINE_EXCEEDED')
    // a later call on the same connection: the server has heard of the end of the first
    await test.call(rpc.getServerInfo)
    gate.open()
    expect((await test.call(rpc.listTasks, request)).tasks).toHaveLength(1_000)
    // with inputs, tasks are read in chunks: one for the caller that left, the rest for the one that stayed
    expect(pages).toBeLessThanOrEqual(1 + Math.ceil(1_000 / 16))
  })
})

describe('a server that stops while calls are under way', () => {
  it('answers each: OK and stored, or UNAVAILABLE and not stored (C122)', async () => {
    const gate = new Gate()
    const kept = new Set<string>()
    let under = 0
    const test = await TestServer.start({
      store: (store): TaskStore =>
        override(store, {
          insert: async (requests) => {
            under += requests.length
            await gate.opened
            const answers = await store.insert(requests)
            for (const { task } of requests) kept.add(task.spec.id)
            return answers
          },
        }),
    })
    const answered = new Map<string, string>()
    const call = async (id: string): Promise<void> => {
      const task = aTask({ id, handler: 'echo', when: inSeconds(60n) })
      const outcome = test.call(rpc.schedule, { task }).then(
        () => 'OK',
        (error: RpcFailure) => error.code,
      )
      answered.set(id, await outcome)
    }
    const calls = Array.from({ length: 20 }, (_, i) => call(`early-${i}`))
    await expect.poll(() => under).toBe(20)
    const stopped = test.server.stop(1_000)
    const late = Array.from({ length: 20 }, (_, i) => call(`late-${i}`))
    await Promise.all(late)
    gate.open()
    await Promise.all(calls)
    expect(await stopped).toBe(true)
    for (const [id, outcome] of answered) {
      expect([id, outcome]).toEqual([id, kept.has(id) ? 'OK' : 'UNAVAILABLE'])
    }
    expect([...answered.values()].filter((outcome) => outcome === 'OK')).toHaveLength(20)
  })
})

/** Holds up whoever waits until it is opened. */
class Gate {
  open!: () => void
  readonly opened = new Promise<void>((resolve) => {
    this.open = resolve
  })
}
