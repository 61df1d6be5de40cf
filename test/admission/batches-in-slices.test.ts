import { describe, expect, it } from 'vitest'
import { Admission } from '../../server/admission/admission.js'
import { DEFAULT_LIMITS } from '../../server/admission/limits.js'
import type { ScheduleAnswer } from '../../server/admission/schedule-call.js'
import type { SchedulerFace } from '../../server/admission/scheduler-face.js'
import type { HandlerInfo } from '../../server/handlers/catalogue.js'
import { SchedulerError } from '../../server/task/errors.js'
import { HurryingClock } from '../clock/some-slices.js'
import { immediateClock } from '../support/immediate-clock.js'
import { MemoryStore } from '../support/memory-store.js'
import { aCall } from './specs.js'

const TASKS = 300

/** An admission that pauses wherever it may, with what its scheduler was told. */
function hurriedAdmission() {
  const accepted: string[][] = []
  const scheduler = {
    snapshot: () => ({ draining: false }),
    wantsNear: () => false,
    accept: (tasks) => accepted.push(tasks.map(({ spec }) => spec.id)),
  } satisfies Partial<SchedulerFace>
  const admission = new Admission({
    store: new MemoryStore(immediateClock(() => 0)),
    scheduler: scheduler as Partial<SchedulerFace> as SchedulerFace,
    handlers: { get: () => ({}) as HandlerInfo, list: () => [], checkInput: () => [] },
    clock: new HurryingClock(),
    limits: DEFAULT_LIMITS,
  })
  return { admission, accepted }
}

const ids = Array.from({ length: TASKS }, (_, i) => `t${i}`)
const told = (answers: readonly ScheduleAnswer[]): string[] =>
  answers.map((answer) =>
    answer instanceof SchedulerError ? answer.reason : `${answer.task.spec.id} ${answer.created}`,
  )

describe('a batch that is worked through in slices', () => {
  it('is answered in order, and the scheduler is told of all of it at once', async () => {
    const { admission, accepted } = hurriedAdmission()
    const answers = await admission.schedule(
      ids.map((id, i) => (i === 100 ? aCall({ id, priority: 1_000 }) : aCall({ id }))),
    )
    expect(told(answers)).toEqual(ids.map((id, i) => (i === 100 ? 'INVALID_TASK' : `${id} true`)))
    expect(accepted).toEqual([ids.filter((_, i) => i !== 100)])
  })

  it('is kept whole beside another with the same ids: one makes all of the tasks, the other finds them', async () => {
    const { admission, accepted } = hurriedAdmission()
    const batch = () => admission.schedule(ids.map((id) => aCall({ id }, { onConflict: 'keep' })))
    const both = await Promise.all([batch(), batch()])
    const [one, other] = both.map(told)
    const made = (created: boolean): string[] => ids.map((id) => `${id} ${created}`)
    const isFirst = one?.[0] === made(true)[0]
    expect([one, other]).toEqual([made(isFirst), made(!isFirst)])
    expect(accepted).toEqual([ids])
  })

  it('does not hold up a single task that comes after it', async () => {
    const { admission, accepted } = hurriedAdmission()
    const batch = admission.schedule(ids.map((id) => aCall({ id })))
    const single = admission.schedule([aCall({ id: 'single' })])
    await Promise.all([batch, single])
    expect(accepted).toEqual([['single'], ids])
  })
})
