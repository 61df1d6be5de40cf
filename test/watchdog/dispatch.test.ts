import { describe, expect, it } from 'vitest'
import type { Pulse } from '../../server/scheduler/pulse.js'
import { SILENT } from '../../server/task/log.js'
import { DispatchWatch } from '../../server/watchdog/dispatch-watch.js'
import { Findings } from '../../server/watchdog/findings.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { STALL_MS, WatchedWorld } from '../support/watched-world.js'
import type { Work } from '../support/scheduler-world.js'

const sleeps: Work = (_, { sleep }) => sleep(120_000)

const aPulse = (starts: number, startable: number, isHeld = false, nextLook = Infinity): Pulse => ({
  starts,
  startable,
  nextLook,
  isHeld,
})

/** A scheduler of which only the pulse is seen. */
class Patient {
  pulseNow = aPulse(0, 0)
  looks = 0
  readonly clock = new VirtualClock()
  readonly findings = new Findings(this.clock, SILENT)
  readonly #watch = new DispatchWatch(this.clock, this.findings, this, STALL_MS)

  pulse(): Pulse {
    return this.pulseNow
  }

  lookAnew(): void {
    this.looks++
  }

  /** Looks once a second. @returns what the last look said. */
  async watch(seconds: number): Promise<boolean> {
    let standsStill = this.#watch.look()
    for (let second = 0; second < seconds; second++) {
      await this.clock.advance(1_000)
      standsStill = this.#watch.look()
    }
    return standsStill
  }
}

describe('a dispatch that stands still although tasks are due and slots are free', () => {
  it('is told to look after two seconds, and is out of service after the stall limit', async () => {
    const patient = new Patient()
    patient.pulseNow = aPulse(7, 3)
    expect(await patient.watch(2)).toBe(false)
    expect(patient.looks).toBe(0)
    expect(await patient.watch(1)).toBe(false)
    expect(patient.looks).toBeGreaterThan(0)
    expect(patient.findings.present()).toEqual([])
    expect(await patient.watch(STALL_MS / 1_000)).toBe(true)
    expect(patient.findings.present()).toMatchObject([
      { kind: 'DISPATCH_STALL', message: expect.stringContaining('3 tasks are due') as string },
    ])
  })

  it('is one as well when the scheduler should have looked long ago', async () => {
    const patient = new Patient()
    patient.pulseNow = aPulse(7, 0, false, patient.clock.now())
    await patient.watch(5)
    expect(patient.looks).toBeGreaterThan(0)
    expect(await patient.watch(STALL_MS / 1_000)).toBe(true)
  })

  it('that goes on when it is told to was found, and is healed', async () => {
    const patient = new Patient()
    patient.pulseNow = aPulse(7, 1)
    await patient.watch(4)
    patient.pulseNow = aPulse(8, 0)
    expect(await patient.watch(1)).toBe(false)
    expect(patient.findings.present()).toMatchObject([
      { kind: 'DISPATCH_STALL', message: expect.stringContaining('goes on') as string },
    ])
  })

  it('is over as soon as something starts', async () => {
    const patient = new Patient()
    patient.pulseNow = aPulse(7, 1)
    await patient.watch(20)
    patient.pulseNow = aPulse(8, 1)
    expect(await patient.watch(0)).toBe(false)
    expect(patient.findings.present()).toEqual([])
    expect(patient.findings.counts()['DISPATCH_STALL']).toBe(1)
  })

  it.each<[string, Pulse]>([
    ['nothing is due', aPulse(7, 0)],
    ['it was asked to hold', aPulse(7, 3, true)],
  ])('is none when %s', async (_, pulse) => {
    const patient = new Patient()
    patient.pulseNow = pulse
    expect(await patient.watch(60)).toBe(false)
    expect(patient.looks).toBe(0)
    expect(patient.findings.present()).toEqual([])
  })
})

describe('the pulse of a scheduler', () => {
  it('shows nothing startable while every slot is busy, or all that waits is blocked', async () => {
    const { clock, world, watchdog } = await WatchedWorld.start({
      handlers: { work: sleeps },
      slots: { thread: 2 },
    })
    await world.scheduleAll(Array.from({ length: 5 }, () => ({ concurrencyKey: 'one' })))
    await world.schedule({ handler: 'gone' })
    await clock.advance(20_000)
    expect(world.scheduler.pulse()).toEqual(aPulse(1, 0))
    await world.scheduleAll(Array.from({ length: 5 }, () => ({})))
    await clock.advance(20_000)
    expect(world.scheduler.pulse()).toEqual(aPulse(2, 0))
    expect(watchdog.counts()['DISPATCH_STALL']).toBe(0)
  })

  it('tells of tasks that fell due without a look', async () => {
    const { clock, world } = await WatchedWorld.start()
    clock.alarmsLateMs = Infinity
    await world.schedule({ when: { kind: 'after', delayMs: 500 } })
    await clock.advance(900)
    expect(world.scheduler.pulse()).toMatchObject({ starts: 0, startable: 1 })
    world.scheduler.lookAnew()
    await clock.settle()
    expect(world.scheduler.pulse()).toMatchObject({ starts: 1, startable: 0 })
  })
})
