import { DatabaseSync } from '@photostructure/sqlite'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createClient,
  InvalidRequestError,
  PunctualError,
  TaskRejectedError,
  type TaskResult,
} from 'punctual'
import { describe, expect, it } from 'vitest'
import { readJournal } from '../../chaos/journal.js'
import { Victim } from '../../chaos/victim.js'

const LIMIT_MS = 100_000
/** Twenty times what is promised: this is about a server that hangs, not about a slow machine. */
const ANSWER_LIMIT_MS = 10_000

const pause = (ms: number): Promise<undefined> => sleep(ms, undefined)

describe('many clients at once', () => {
  it('never meet a locked store, also while another program reads its file (C080)', async () => {
    await using victim = await Victim.start([])
    const clients = Array.from({ length: 20 }, () =>
      createClient({ address: victim.address, deadlineMs: LIMIT_MS }),
    )
    const other = new DatabaseSync(join(victim.data, 'punctual.db'), { readOnly: true })
    const met = new Set<string>()
    const reading = setInterval(() => void other.prepare('SELECT count(*) FROM sqlite_master').get(), 5)
    try {
      await Promise.all(
        clients.flatMap((client, c) =>
          Array.from({ length: 40 }, async (_, i) => {
            try {
              const task = await client.schedule('work', { ms: 5 }, { id: `many/${c}/${i}`, delayMs: i })
              if (i % 3 === 0) await client.get(task.id)
              if (i % 4 === 0) await task.cancel()
            } catch (error) {
              if ((error as Error).name !== 'TaskEndedError')
                met.add(`${(error as Error).name}: ${(error as Error).message}`)
            }
          }),
        ),
      )
    } finally {
      clearInterval(reading)
      other.close()
      await Promise.all(clients.map((client) => client.close()))
    }
    expect([...met]).toEqual([])
  })
})

describe('a flood of tasks that are due in the same second', () => {
  it('are all run, once each; the server answers all the while (C139)', async () => {
    await using victim = await Victim.start(['--threads', '2'])
    await using client = createClient({ address: victim.address, deadlineMs: LIMIT_MS })
    const dueTime = new Date(Date.now() + 3_000)
    const ids = Array.from({ length: 20_000 }, (_, i) => `flood/${i}`)
    const answers = await client.scheduleMany(
      ids.map((id) => ({ handler: 'work', input: { ms: 0 }, id, dueTime })),
    )
    expect(answers.filter((answer) => answer instanceof PunctualError)).toEqual([])
    const last = ids.at(-1) ?? ''
    const longest: number[] = []
    for (let open = ids.length; open > 0; ) {
      const since = performance.now()
      await client.get(last)
      longest.push(performance.now() - since)
      const { states } = await client.stats()
      open = (states['scheduled'] ?? 0) + (states['running'] ?? 0)
      await pause(50)
    }
    expect(Math.max(...longest)).toBeLessThan(ANSWER_LIMIT_MS)
    const starts = readJournal(victim.journal).filter(({ mark }) => mark === 'S')
    expect(new Set(starts.map(({ taskId }) => taskId))).toEqual(new Set(ids))
    expect(starts).toHaveLength(ids.length)
    expect(starts.every(({ at }) => at >= dueTime.getTime())).toBe(true)
  })
})

describe('a handler that never lets go', () => {
  it('times out, retried only when it has really gone; the server answers all the while (C072)', async () => {
    await using victim = await Victim.start(['--threads', '2'])
    await using client = createClient({ address: victim.address })
    const task = await client.schedule('loop', undefined, {
      id: 'endless',
      attemptTimeoutMs: 500,
      retry: { maxAttempts: 2, initialBackoffMs: 1 },
    })
    const ending = client.wait(task.id, { timeoutMs: LIMIT_MS })
    for (let result: TaskResult | undefined; !result; ) {
      const since = performance.now()
      await client.get(task.id)
      expect(performance.now() - since).toBeLessThan(ANSWER_LIMIT_MS)
      result = await Promise.race([ending, pause(50)])
    }
    expect(await ending).toMatchObject({ outcome: 'timedOut', attempts: 2 })
    const notes = readJournal(victim.journal)
    const second = notes.findIndex(({ mark, attempt }) => mark === 'S' && attempt === 2)
    expect(second).toBeGreaterThan(0)
    // nothing is heard of the first attempt once the second has begun
    expect(notes.slice(second).filter(({ attempt }) => attempt === 1)).toEqual([])
  })
})

describe('handlers that take their thread along', () => {
  it('fail by themselves, each with its reason; the server and everybody else go on (C135, C136)', async () => {
    await using victim = await Victim.start(['--threads', '2'])
    await using client = createClient({ address: victim.address, deadlineMs: LIMIT_MS })
    const wait = { timeoutMs: LIMIT_MS }
    const bad = await Promise.all([
      ...[0, 1, 0, 1].map((code) => client.schedule('exit', { code })),
      client.schedule('memory'),
    ])
    const good = await Promise.all(Array.from({ length: 20 }, () => client.schedule('work', { ms: 20 })))
    const codes = await Promise.all(
      bad.map(async ({ id }) => {
        const result = await client.wait(id, wait)
        return 'error' in result ? result.error?.code : result.outcome
      }),
    )
    expect(codes).toEqual([...Array.from({ length: 4 }, () => 'WORKER_EXITED'), 'OUT_OF_MEMORY'])
    for (const { id } of good) expect((await client.wait(id, wait)).outcome).toBe('succeeded')
  })
})

describe('a cron expression that is meant to take long', () => {
  it.each([
    ['a megabyte', '0,'.repeat(500_000)],
    ['a huge range', '0-99999999/1 * * * *'],
    ['ten thousand fields', '* '.repeat(10_000)],
    ['a list of 200,000 values', `${'0,'.repeat(200_000)}0 * * * *`],
  ])('is refused, and nobody waits for it: %s (C151)', async (_, cron) => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address, retry: false })
    const since = performance.now()
    const refused = client.preview({ cron }).catch((error: unknown) => error)
    await client.stats()
    const error = await refused
    expect(error instanceof InvalidRequestError || error instanceof TaskRejectedError).toBe(true)
    expect(performance.now() - since).toBeLessThan(ANSWER_LIMIT_MS)
  })
})
