import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isLive, type Task, type TaskState } from '../../../server/task/task.js'
import type { StoreWorld } from '../store-world.js'
import { ending, named, newTask, nextRun } from '../stored-tasks.js'

const NONE: Record<TaskState, number> = {
  scheduled: 0,
  running: 0,
  succeeded: 0,
  failed: 0,
  cancelled: 0,
  expired: 0,
}

export function statsContract(world: () => StoreWorld): void {
  describe('stats', () => {
    it('begin at nothing', async () => {
      expect(await world().store.stats()).toMatchObject({
        states: NONE,
        logEntries: 0,
        earliest: 0,
        latest: 0,
      })
    })

    it('count tasks by state and entries exactly, through everything that can happen', async () => {
      const tasks = new Map<string, Task>()
      let entries = (await world().store.stats()).logEntries
      const step = fc.constantFrom(
        'insert',
        'insertAgain',
        'start',
        'succeed',
        'fail',
        'cancel',
        'nextRun',
        'reopen',
        'late',
      )
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(step, fc.nat()), { maxLength: 40 }), async (steps) => {
          for (const [what, pick] of steps) {
            const known = [...tasks.values()]
            const task = known[pick % Math.max(1, known.length)]
            if (what === 'insert' || !task) {
              const added = await world().addOne(newTask(), pick % 2 === 0)
              tasks.set(added.spec.id, added)
            } else if (what === 'insertAgain') {
              await world().store.insert([{ task: named(task.spec.id), near: true }])
            } else if (what === 'start') {
              // only what a scheduler holds is started
              if (task.state !== 'scheduled' || pick % 2 === 1) continue
              const startId = task.startId + 1
              const running = { ...task, state: 'running' as const, startId, startTimeUs: 1, attempts: 1 }
              await world().store.update([{ task: running, entries: [] }])
              tasks.set(task.spec.id, running)
            } else {
              const change = {
                succeed: () => ending(task, 'succeeded'),
                fail: () => ending(task, 'failed'),
                cancel: () => ending(task, 'cancelled'),
                nextRun: () => nextRun(task),
                reopen: () => ({
                  task: { ...task, state: 'scheduled' as const, run: task.run + 1 },
                  entries: [],
                  reopen: true,
                }),
                late: () => ending({ ...task, startId: -1 }),
              }[what]()
              const [answer] = await world().store.update([change])
              const accepted = what !== 'late' && (isLive(task.state) || what === 'reopen')
              if (answer?.kind !== (accepted ? 'stored' : 'refused'))
                throw new Error(`${what} was ${answer?.kind}`)
              if (!accepted) continue
              tasks.set(task.spec.id, change.task)
              entries += change.entries.length
            }
          }
          const expected = { ...NONE }
          for (const { state } of tasks.values()) expected[state] += 1
          const stats = await world().store.stats()
          expect(stats).toMatchObject({ states: expected, logEntries: entries, latest: entries })
        }),
        { numRuns: 25 },
      )
    })
  })

  describe('start ids', () => {
    it('are never given twice', async () => {
      const first = await world().store.reserveStartIds(1_000)
      const [a, b] = await Promise.all([world().store.reserveStartIds(10), world().store.reserveStartIds(1)])
      expect(first).toBeGreaterThan(0)
      expect(a).toBeGreaterThanOrEqual(first + 1_000)
      expect(b).toBeGreaterThanOrEqual(a + 10)
    })
  })
}
