import { createClient, type SchedulerClient, type TaskResult } from 'punctual'
import { describe, expect, it } from 'vitest'
import { type Note, readJournal } from '../../chaos/journal.js'
import { Victim } from '../../chaos/victim.js'
import { within } from './child-script.js'

const LIMIT_MS = 60_000
/** The clock of a thread and that of the scheduler are read at different moments. */
const SAME_TIME_MS = 2

const endOf = (client: SchedulerClient, id: string): Promise<TaskResult> =>
  client.wait(id, { timeoutMs: LIMIT_MS })

const startsOf = (victim: Victim, id?: string): readonly Note[] =>
  readJournal(victim.journal).filter(
    ({ mark, taskId }) => mark === 'S' && (id === undefined || taskId === id),
  )

/** The most attempts that ran at once. */
function mostAtOnce(notes: readonly Note[]): number {
  let running = 0
  let most = 0
  for (const { mark } of notes) {
    if (mark === 'S') most = Math.max(most, ++running)
    if (mark === 'E') running--
  }
  return most
}

/** Holds the only thread until all others have been scheduled. */
async function holdTheThread(client: SchedulerClient, victim: Victim): Promise<void> {
  await client.schedule('work', { ms: 1_500 }, { id: 'holder' })
  await within(LIMIT_MS, () => Promise.resolve(startsOf(victim, 'holder').length === 1))
}

describe('the order of what is due', () => {
  it('is by due time, moved by ten seconds for each step of priority, then by arrival', async () => {
    await using victim = await Victim.start(['--threads', '1'])
    await using client = createClient({ address: victim.address, coalesce: false })
    await holdTheThread(client, victim)
    await client.schedule('work', { ms: 0 }, { id: 'plain' })
    await client.schedule('work', { ms: 0 }, { id: 'plain-later' })
    await client.schedule('work', { ms: 0 }, { id: 'urgent', priority: 10 })
    await client.schedule('work', { ms: 0 }, { id: 'modest', priority: -10 })
    await client.schedule('work', { ms: 0 }, { id: 'more-urgent', priority: 11 })
    await endOf(client, 'modest')
    expect(startsOf(victim).map(({ taskId }) => taskId)).toEqual([
      'holder',
      'more-urgent',
      'urgent',
      'plain',
      'plain-later',
      'modest',
    ])
  })

  it('lets no more attempts of a handler run at once than it allows, and others pass by', async () => {
    await using victim = await Victim.start(['--threads', '4'])
    await using client = createClient({ address: victim.address })
    const limited = Array.from({ length: 8 }, (_, i) => `limited/${i}`)
    await client.scheduleMany(limited.map((id) => ({ handler: 'limited', input: { ms: 300 }, id })))
    await client.schedule('work', { ms: 0 }, { id: 'passes' })
    await Promise.all([...limited, 'passes'].map((id) => endOf(client, id)))
    const notes = readJournal(victim.journal)
    expect(mostAtOnce(notes.filter(({ taskId }) => taskId !== 'passes'))).toBe(2)
    expect(startsOf(victim).findIndex(({ taskId }) => taskId === 'passes')).toBeLessThan(limited.length)
  })
})

describe('a retry', () => {
  it('waits 10, 300, 300, 300, 300 ms under a multiplier that would overflow, then is FAILED (C066)', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address })
    const retry = {
      maxAttempts: 6,
      initialBackoffMs: 10,
      backoffMultiplier: 1_000_000,
      maxBackoffMs: 300,
      jitterRatio: 0,
    }
    await client.schedule('hopeless', undefined, { id: 'six', retry })
    expect(await endOf(client, 'six')).toMatchObject({ outcome: 'failed', attempts: 6 })
    const starts = startsOf(victim, 'six').map(({ at }) => at)
    const waits = starts.slice(1).map((at, i) => at - (starts[i] ?? 0))
    expect(waits).toHaveLength(5)
    expect(waits.every((wait, i) => wait >= (i === 0 ? 10 : 300) - SAME_TIME_MS)).toBe(true)
  })
})

describe('an answer that comes after the time-out', () => {
  it('changes nothing: one result, TIMED_OUT; and nothing of the task runs before the late one has ended', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address })
    await client.schedule(
      'late',
      { ms: 3_000 },
      {
        id: 'late',
        attemptTimeoutMs: 100,
        retry: { maxAttempts: 2, initialBackoffMs: 1, jitterRatio: 0 },
      },
    )
    expect(await endOf(client, 'late')).toMatchObject({ outcome: 'timedOut', attempts: 2 })
    await within(LIMIT_MS, () =>
      Promise.resolve(readJournal(victim.journal).filter(({ mark }) => mark === 'E').length === 2),
    )
    expect(readJournal(victim.journal).map(({ mark, attempt }) => `${mark}${attempt}`)).toEqual([
      'S1',
      'E1',
      'S2',
      'E2',
    ])
    const results: TaskResult[] = []
    for await (const result of client.results({ from: 'earliest', untilCaughtUp: true })) results.push(result)
    expect(results.map(({ outcome }) => outcome)).toEqual(['timedOut'])
  })
})
