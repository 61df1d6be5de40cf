import { describe, expect, it } from 'vitest'
import type { RunningAttempt } from '../../server/scheduler/pulse.js'
import { SILENT } from '../../server/task/log.js'
import { AttemptWatch, STUCK_AFTER_MS } from '../../server/watchdog/attempt-watch.js'
import { Findings } from '../../server/watchdog/findings.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { SchedulerWorld, type Work } from '../support/scheduler-world.js'

const TIMEOUT_MS = 5_000
const deaf: Work = () => new Promise<void>(() => {})

function watch(...timeoutsMs: readonly number[]) {
  const clock = new VirtualClock()
  const findings = new Findings(clock, SILENT)
  const running: RunningAttempt[] = timeoutsMs.map((timeoutMs, i) => ({
    taskId: `task-${i}`,
    handler: 'work',
    startId: i + 1,
    startTimeUs: clock.nowMicros(),
    timeoutMs,
  }))
  const stopped: number[] = []
  const watched = new AttemptWatch(
    clock,
    findings,
    () => running,
    (startId) => stopped.push(startId),
  )
  return { clock, findings, running, stopped, watched }
}

describe('an attempt that is a minute past its time-out and still has its slot', () => {
  it('is found by its task, and stopped by force once more at each look', async () => {
    const { clock, findings, stopped, watched } = watch(TIMEOUT_MS)
    await clock.advance(TIMEOUT_MS + STUCK_AFTER_MS - 1)
    watched.look()
    expect(findings.present()).toEqual([])
    expect(stopped).toEqual([])
    await clock.advance(1)
    watched.look()
    watched.look()
    expect(findings.present()).toMatchObject([
      { kind: 'ATTEMPT_STUCK', message: expect.stringContaining("'task-0' (work)") as string },
    ])
    expect(findings.counts()['ATTEMPT_STUCK']).toBe(1)
    expect(stopped).toEqual([1, 1])
  })

  it('is found no more when it has ended', async () => {
    const { clock, findings, running, watched } = watch(TIMEOUT_MS)
    await clock.advance(TIMEOUT_MS + STUCK_AFTER_MS)
    watched.look()
    running.pop()
    watched.look()
    expect(findings.present()).toEqual([])
  })

  it('is none without a time-out: it may take as long as it likes', async () => {
    const { clock, findings, watched } = watch(0)
    await clock.advance(30 * 24 * 3_600_000)
    watched.look()
    expect(findings.present()).toEqual([])
  })
})

describe('the attempts of a scheduler', () => {
  it('are those that have begun and have not ended', async () => {
    const world = await SchedulerWorld.start({
      handlers: { work: deaf, quick: () => 1 },
      slots: { thread: 2 },
    })
    await world.schedule({ handler: 'quick' })
    const [first] = await world.scheduleAll([{ attemptTimeoutMs: 9_000 }, {}, {}])
    await world.clock.advance(1_000)
    const running = [...world.scheduler.runningAttempts()]
    expect(running).toHaveLength(2)
    expect(running[0]).toMatchObject({ taskId: first?.spec.id, handler: 'work', timeoutMs: 9_000 })
    await world.clock.advance(10_000)
    expect([...world.scheduler.runningAttempts()].map(({ taskId }) => taskId)).not.toContain(first?.spec.id)
  })
})
