import { credentials } from '@grpc/grpc-js'
import { createClient, type SchedulerClient } from 'punctual'
import { expect, it } from 'vitest'
import {
  type ScheduleBatchResponse,
  ScheduleRequest,
  SchedulerServiceClient,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { residentBytes } from '../../bench/measure/process-cost.js'
import { ServerProcess } from './server-process.js'

const BATCH = 1_000
const MB = 1_000_000
const DAY_S = 86_400
/** So many times what is promised: machines of tests are slow, and not alone. Memory is the same on any. */
const PATIENCE = 5

/** `submittingMb`: with what submitting has left behind. */
const PROMISED = {
  waitingMb: 300,
  submittingMb: 300,
  runningMb: 600,
  restartMs: 2_000,
  latenessMs: 200,
  answerMs: 500,
}

/** What a crowd of tasks does to a server: `waiting` that are due tomorrow, `atOnce` that are due in the same second. */
export function manyTasks({ waiting, atOnce }: { waiting: number; atOnce: number }): void {
  it(`${shown(waiting)} tasks that wait for tomorrow cost little memory, hold up no restart, and make nobody late`, async () => {
    await using server = await ServerProcess.start()
    await fill(server, waiting, (n) => ({
      $case: 'delay',
      value: { seconds: BigInt(DAY_S + (n % 3_600)), nanos: 0 },
    }))
    await expectPunctual(server)
    expect(residentMb(server)).toBeLessThan(PROMISED.submittingMb)
    await server.stop('SIGKILL')
    const since = performance.now()
    await server.start()
    await using client = createClient({ address: server.address })
    const { states } = await client.stats()
    expect(performance.now() - since).toBeLessThan(PATIENCE * PROMISED.restartMs)
    expect(states).toMatchObject({ scheduled: waiting, succeeded: 1 })
    await expectPunctual(server)
    expect(residentMb(server)).toBeLessThan(PROMISED.waitingMb)
  })

  it(`${shown(atOnce)} tasks that are due in the same second all succeed, none too early, while the server answers (C139)`, async () => {
    await using server = await ServerProcess.start()
    await using client = createClient({ address: server.address })
    const dueSecond = BigInt(Math.ceil(Date.now() / 1_000) + 10 + Math.ceil(atOnce / 2_000))
    await fill(server, atOnce, () => ({ $case: 'dueTime', value: { seconds: dueSecond, nanos: 0 } }))
    const answers = answerTimes(client, server)
    const kinds = new Map<string, number>()
    let read = 0
    for await (const { outcome, attempts, latenessMs = -1 } of client.results({ from: 'earliest' })) {
      const kind = `${outcome}, attempts ${attempts}, ${latenessMs < 0 ? 'early' : 'in time'}`
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
      read += 1
      if (read === atOnce) break
    }
    const { slowestMs, mostMb } = await answers.stop()
    expect([...kinds]).toEqual([['succeeded, attempts 1, in time', atOnce]])
    expect(slowestMs).toBeLessThan(PATIENCE * PROMISED.answerMs)
    expect(mostMb).toBeLessThan(PROMISED.runningMb)
    const { states } = await client.stats()
    expect(states).toMatchObject({ succeeded: atOnce, scheduled: 0, running: 0, failed: 0 })
  })
}

const shown = (count: number): string => count.toLocaleString('en-US')

/** Stores tasks in batches. */
async function fill(
  server: ServerProcess,
  count: number,
  when: (n: number) => TaskSpec['when'],
): Promise<void> {
  const client = new SchedulerServiceClient(server.address, credentials.createInsecure())
  const schedule = (requests: ScheduleRequest[]): Promise<ScheduleBatchResponse> =>
    new Promise((resolve, reject) => {
      client.scheduleBatch({ requests }, (error, answer) => (error ? reject(error) : resolve(answer)))
    })
  for (let from = 0; from < count; from += BATCH) {
    const requests = Array.from({ length: Math.min(BATCH, count - from) }, (_, i) => {
      const payload = { $case: 'inputJson' as const, value: `{"n":${from + i}}` }
      const task = { ...TaskSpec.create(), handler: 'echo', when: when(from + i), payload }
      return { ...ScheduleRequest.create(), task }
    })
    const { answers } = await schedule(requests)
    expect(answers.filter(({ created }) => created)).toHaveLength(requests.length)
  }
  client.close()
}

/** A task that is due in a second starts then. */
async function expectPunctual(server: ServerProcess): Promise<void> {
  await using client = createClient({ address: server.address })
  const task = await client.schedule('echo', {}, { delayMs: 1_000, id: 'soon', onConflict: 'replace' })
  const { latenessMs } = await task.result()
  expect(latenessMs).toBeGreaterThanOrEqual(0)
  expect(latenessMs).toBeLessThan(PATIENCE * PROMISED.latenessMs)
}

/** Asks for a task again and again until it is stopped; how long the slowest answer took, and the server's memory at its peak. */
function answerTimes(client: SchedulerClient, server: ServerProcess) {
  let [slowestMs, mostMb] = [0, 0]
  const stopped = new AbortController()
  const asking = (async () => {
    const task = await client.schedule('echo', {}, { delayMs: DAY_S * 1_000 })
    while (!stopped.signal.aborted) {
      const since = performance.now()
      await client.get(task.id)
      slowestMs = Math.max(slowestMs, performance.now() - since)
      mostMb = Math.max(mostMb, residentMb(server))
    }
    await task.cancel()
  })()
  return {
    async stop() {
      stopped.abort()
      await asking
      return { slowestMs, mostMb }
    },
  }
}

/** 0 where it cannot be known. */
const residentMb = ({ pid }: ServerProcess): number => (residentBytes(pid ?? 0) || 0) / MB
