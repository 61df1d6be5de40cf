import { createClient, type SchedulerClient, TaskExistsError, TaskFailedError } from 'punctual'
import { describe, expect, it } from 'vitest'
import type { handlers } from '../../server/handlers/demo-handlers.js'
import { runScript, within } from './child-script.js'
import { ServerProcess } from './server-process.js'

/** Three times what is promised: machines of tests are slow. */
const EXIT_LIMIT_MS = 6_000
const NOTICE_LIMIT_MS = 5_000

type Client = SchedulerClient<typeof handlers>

describe('the client and a real server', () => {
  it('schedule, run and give back, one by one and by the thousand (C165)', async () => {
    await using server = await ServerProcess.start()
    await using client: Client = createClient({ address: server.address })
    const task = await client.schedule('fibonacci', { n: 20 })
    const result = await task.result()
    expect(result.output).toEqual({ value: 6_765 })
    expect(result.latenessMs).toBeGreaterThanOrEqual(0)
    const tasks = await Promise.all(Array.from({ length: 2_345 }, (_, n) => client.schedule('echo', { n })))
    const outputs = await Promise.all(tasks.map(async (each) => (await each.result()).output))
    expect(outputs).toEqual(tasks.map((_, n) => ({ n })))
    const ids = new Set<string>()
    for await (const { id } of client.list({ handlers: ['echo'] })) ids.add(id)
    expect(ids).toEqual(new Set(tasks.map(({ id }) => id)))
  })

  it('take batches of large inputs apart below the limit of a message', async () => {
    await using server = await ServerProcess.start()
    await using client: Client = createClient({ address: server.address })
    const text = 'x'.repeat(900_000)
    const tasks = await Promise.all(
      Array.from({ length: 10 }, (_, n) => client.schedule('echo', { n, text })),
    )
    const results = await Promise.all(tasks.map((task) => task.result()))
    expect(results.map(({ output }) => (output as { n: number }).n)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('agree that one id is one task, whoever asks, and that other content is an error (C090)', async () => {
    await using server = await ServerProcess.start()
    const clients = Array.from({ length: 5 }, (): Client => createClient({ address: server.address }))
    const tasks = await Promise.all(
      Array.from({ length: 50 }, async (_, n) => clients[n % 5]?.schedule('echo', { a: 1 }, { id: 'k' })),
    )
    expect(tasks.map((task) => task?.id)).toEqual(Array.from({ length: 50 }, () => 'k'))
    expect(tasks.filter((task) => task?.created)).toHaveLength(1)
    const results = await Promise.all(tasks.flatMap((task) => task?.result() ?? []))
    expect(new Set(results.map(({ sequence }) => sequence)).size).toBe(1)
    await expect(clients[0]?.schedule('echo', { a: 2 }, { id: 'k' })).rejects.toBeInstanceOf(TaskExistsError)
    await Promise.all(clients.map((client) => client.close()))
  })

  it('stop a task that runs', async () => {
    await using server = await ServerProcess.start()
    await using client: Client = createClient({ address: server.address })
    const task = await client.schedule('sleep', { ms: 60_000 })
    await within(NOTICE_LIMIT_MS, async () => (await task.state()) === 'running')
    await task.cancel()
    const error = await task.result().catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(TaskFailedError)
    expect(error).toMatchObject({ result: { outcome: 'cancelled' } })
  })

  it('lose and double nothing while the server is killed and stopped: 200 results, each once, in order (C160)', async () => {
    await using server = await ServerProcess.start()
    let breaks = 0
    await using client: Client = createClient({
      address: server.address,
      onBreak: () => {
        breaks++
      },
    })
    const due = (n: number) => ({ id: `t${n}`, delayMs: 500 + n * 30 })
    const tasks = await Promise.all(
      Array.from({ length: 200 }, (_, n) => client.schedule('echo', { n }, due(n))),
    )
    const results = tasks.map((task) => task.result())
    const restarts = (async () => {
      await seen(client, 50)
      await server.stop('SIGKILL')
      await server.start()
      await seen(client, 120)
      await server.stop('SIGTERM')
      await server.start()
    })()
    const sequences: number[] = []
    const ids: string[] = []
    for await (const { sequence, taskId } of client.results({ from: 'earliest' })) {
      sequences.push(sequence)
      ids.push(taskId)
      if (ids.length === 200) break
    }
    await restarts
    expect(ids.toSorted()).toEqual(tasks.map(({ id }) => id).toSorted())
    expect(sequences).toEqual(sequences.toSorted((a, b) => a - b))
    expect((await Promise.all(results)).map(({ taskId }) => taskId)).toEqual(tasks.map(({ id }) => id))
    // two streams, two restarts of about a second each: no hot loop
    expect(breaks).toBeLessThan(40)
  })

  it('leave no stream open when a loop is left (C156)', async () => {
    await using server = await ServerProcess.start()
    await using client: Client = createClient({ address: server.address })
    await Promise.all(Array.from({ length: 10 }, (_, n) => client.schedule('echo', { n })))
    let read = 0
    for await (const _ of client.results({ from: 'earliest' })) if (++read === 3) break
    await within(NOTICE_LIMIT_MS, async () => (await client.stats()).openStreams === 0)
    expect(read).toBe(3)
  })
})

describe('a program that uses the client', () => {
  it('ends by itself after close(), which may be called twice (C163)', async () => {
    await using server = await ServerProcess.start()
    const { code, stderr, afterLastLineMs } = await runScript(`
      const client = createClient({ address: '${server.address}' })
      const task = await client.schedule('echo', 1)
      await task.result()
      await client.close()
      await client.close()
      await client.schedule('echo', 1).catch((error) => console.error(error.name))
      console.log('done')
    `)
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'ClientClosedError\n' })
    expect(afterLastLineMs).toBeLessThan(EXIT_LIMIT_MS)
  })

  it('ends by itself even if it forgets to close', async () => {
    await using server = await ServerProcess.start()
    const { code, afterLastLineMs } = await runScript(`
      const client = createClient({ address: '${server.address}' })
      await (await client.schedule('echo', 1)).result()
      console.log('done')
    `)
    expect(code).toBe(0)
    expect(afterLastLineMs).toBeLessThan(EXIT_LIMIT_MS)
  })

  it('gets errors of a stream in its loop only, and never as an unhandled event (C157)', async () => {
    const server = await ServerProcess.start()
    const script = runScript(`
      const client = createClient({ address: '${server.address}' })
      const stop = new AbortController()
      setTimeout(() => stop.abort(), 3_000)
      console.log('reading')
      try {
        for await (const result of client.results({ signal: stop.signal })) console.log(result.taskId)
      } catch (error) {
        console.log(error.name)
      }
      await client.close()
    `)
    await script.said('reading')
    await server.stop('SIGKILL')
    const { code, stdout, stderr } = await script
    await server[Symbol.asyncDispose]()
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: 'reading\nAbortError\n', stderr: '' })
  })
})

/** Waits until the server has that many results. */
async function seen(client: Client, count: number): Promise<void> {
  let read = 0
  for await (const _ of client.results({ from: 'earliest' })) if (++read === count) return
}
