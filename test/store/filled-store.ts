import type { TaskStore } from '../../server/store/task-store.js'
import type { Task } from '../../server/task/task.js'
import { ending, EVERYTHING, type GivenTask, named, nextRun, START } from './stored-tasks.js'

const UUID = '0190163d-8694-739b-aea5-966c26f8ad91'

/** Gives an open, empty store a task of each state, a series, results, and a consumer. */
export async function fillStore(store: TaskStore): Promise<void> {
  const insert = async (id: string, near: boolean, given: GivenTask = {}): Promise<Task> => {
    const [answer] = await store.insert([{ task: named(id, given), near }])
    if (!answer) throw new Error('no answer')
    return answer.task
  }
  await insert('near', true, { spec: { payload: { kind: 'json', text: '{"n":1}' } } })
  await insert('paused-near', true, { paused: true })
  await insert('far', false, { dueTime: START + 86_400_000, spec: { priority: 5, labels: { team: 'x' } } })
  await insert(UUID, false, { paused: true })
  const runs = await insert('runs', true)
  const startId = await store.reserveStartIds(10)
  await store.start([{ arrival: runs.arrival, startId, startTimeUs: START * 1_000, attempts: 1 }])
  for (const state of ['succeeded', 'failed', 'cancelled', 'expired'] as const)
    await store.update([ending(await insert(`ended-${state}`, state !== 'failed'), state)])
  const series = await insert('series', false, {
    spec: { recurrence: { kind: 'every', intervalMs: 60_000, overlap: 'skip', missed: 'runOnce' } },
    series: {
      firstDue: START,
      slot: START,
      startedRuns: 1,
      lastStart: START,
      lastState: 'succeeded',
      manualWaits: false,
    },
  })
  await store.update([nextRun(series)])
  await store.keepConsumer({
    name: 'audit',
    position: 2,
    filter: { ...EVERYTHING, handlers: new Set(['demo']), outcomes: new Set(['failed']) },
    lossy: false,
    createTime: START,
    activeTime: START,
  })
}
