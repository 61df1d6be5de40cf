import { rmSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { admit } from '../../server/task/admit.js'
import { ended } from '../../server/task/attempt-end.js'
import { began } from '../../server/task/attempt-start.js'
import { DEFAULT_RETRY } from '../../server/task/retry.js'
import type { Task } from '../../server/task/task.js'
import type { TaskSpec } from '../../server/task/task-spec.js'
import { newId } from '../../server/admission/new-id.js'
import { BuiltStore, builtEncoder } from './built.js'
import { inFlight, type Measured, measured, timed } from './measured.js'

const PAYLOAD = { kind: 'json', text: '{"n":1,"text":"hello world, hello world, hello world"}' } as const

/** What the store alone can carry: the life of a task (inserted, ended with a result), durable, in batches; nothing of gRPC, scheduler or threads of handlers. */
export async function storeLives(given: {
  readonly folder: string
  readonly tasks: number
  readonly size: number
  /** Batches under way at once. */
  readonly inFlight: number
}): Promise<Measured> {
  const { tasks, size } = given
  return withStore(given.folder, 'thread', async (store) => {
    let startId = await store.reserveStartIds(tasks)
    return measured({ pid: process.pid }, tasks, (times) =>
      inFlight(Math.ceil(tasks / size), given.inFlight, async () => {
        const requests = Array.from({ length: size }, () => ({
          task: admit(specOf(), store.now(), ''),
          near: true,
        }))
        const inserted = await timed(times, () => store.insert(requests))
        await store.update(inserted.map(({ task }) => endOf(task, startId++, store.now())))
      }),
    )
  })
}

/** One insert after another, each waited for: what a durable acknowledgement costs at least. */
export async function storeCommits({
  folder,
  commits,
}: {
  readonly folder: string
  readonly commits: number
}): Promise<Measured> {
  return withStore(folder, 'thread', (store) =>
    measured({ pid: process.pid }, commits, async (times) => {
      for (let i = 0; i < commits; i++)
        await timed(times, () => store.insert([{ task: admit(specOf(), store.now(), ''), near: true }]))
    }),
  )
}

/** Fills a store with tasks that wait: due one after another, evenly, from `fromMs` to `toMs` after now. Returns seconds. */
export async function fillStore(given: {
  readonly data: string
  readonly tasks: number
  readonly fromMs: number
  readonly toMs: number
}): Promise<number> {
  const { data, tasks, fromMs, toMs } = given
  const since = performance.now()
  const store = newStore(data, 'inline')
  await store.open()
  const size = 5_000
  for (let done = 0; done < tasks; done += size) {
    const requests = Array.from({ length: Math.min(size, tasks - done) }, (_, i) => {
      const dueTime = store.now() + fromMs + Math.floor(((toMs - fromMs) * (done + i)) / tasks)
      return { task: admit({ ...specOf(), when: { kind: 'at', dueTime } }, store.now(), ''), near: false }
    })
    await store.insert(requests)
  }
  await store.close()
  return (performance.now() - since) / 1_000
}

type Store = InstanceType<typeof BuiltStore>

const newStore = (folder: string, runIn: 'thread' | 'inline'): Store =>
  new BuiltStore({
    folder,
    durability: 'full',
    priorityStepMs: 10_000,
    runIn,
    now: () => Date.now(),
    encodeResult: builtEncoder,
  })

async function withStore<T>(
  folder: string,
  runIn: 'thread' | 'inline',
  work: (store: Store) => Promise<T>,
): Promise<T> {
  const own = join(folder, randomUUID())
  const store = newStore(own, runIn)
  await store.open()
  try {
    return await work(store)
  } finally {
    await store.close()
    rmSync(own, { recursive: true })
  }
}

function endOf(task: Task, startId: number, now: number): ReturnType<typeof ended> {
  const startTimeUs = now * 1_000
  const outcome = { kind: 'succeeded', output: PAYLOAD } as const
  return ended(
    began(task, startId, startTimeUs),
    { outcome, startTimeUs, endTimeUs: startTimeUs, workerId: 'thread-1' },
    now,
    0,
  )
}

function specOf(): TaskSpec {
  return {
    id: newId(Date.now()),
    handler: 'echo',
    payload: PAYLOAD,
    when: { kind: 'now' },
    retry: DEFAULT_RETRY,
    attemptTimeoutMs: 3_600_000,
    priority: 0,
    concurrencyKey: '',
    atMostOnce: false,
    labels: {},
    traceparent: '',
    tracestate: '',
    origin: '',
    rememberIdForMs: 86_400_000,
  }
}
