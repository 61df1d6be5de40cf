import { LANES } from '../executor/executor.js'
import type { TaskStore } from '../store/task-store.js'
import type { DispatchCore } from './dispatch-core.js'
import { LiveTask } from './live-task.js'
import type { LiveTasks } from './live-tasks.js'

export interface ParkingParts {
  readonly core: DispatchCore
  readonly tasks: LiveTasks
  readonly store: TaskStore
  readonly capacity: number
  /** A task is back in memory. */
  readonly goOn: (live: LiveTask) => void
  readonly wake: () => void
  readonly onFailed: (error: unknown) => void
}

/** Of a group, so many stay in memory: enough that its turn rarely waits for the store. */
const MAX_KEPT = 16
const MAX_FETCH = 1_000

/** Keeps what cannot start from filling memory: blocked tasks beyond a measure are parked, so that the window goes on to those behind them. */
export class Parking {
  readonly #parts: ParkingParts
  readonly #keptOfAGroup: number

  constructor(parts: ParkingParts) {
    this.#parts = parts
    this.#keptOfAGroup = Math.max(1, Math.min(MAX_KEPT, Math.floor(parts.capacity / 4)))
  }

  /** @param isOverfull - More are due than are known in memory. */
  look(isOverfull: boolean): void {
    const { core, capacity } = this.#parts
    for (const live of core.takeBehindParked()) this.#park(live)
    if (core.blocked > capacity / 2)
      this.#parkAll((live) => live.where !== 'pending' && live.where !== 'ready')
    else if (isOverfull && this.#isLaneStarved()) this.#parkAll((live) => live.where === 'ready')
    if (core.parked.size > 0) this.#fetchWhatLacks()
  }

  /** A lane could start more, and all that is in memory is of the other one. */
  #isLaneStarved(): boolean {
    const { core, capacity } = this.#parts
    const isStarved = LANES.some((lane) => {
      const { busy, slots } = core.lane(lane)
      return busy < slots && core.line.length(lane) === 0
    })
    return isStarved && LANES.some((lane) => core.line.length(lane) > capacity / 2)
  }

  /** Parks, of those that `isMeant`, all but the first of each group. Tasks whose time runs out and runs of a series stay: they are looked at again. */
  #parkAll(isMeant: (live: LiveTask) => boolean): void {
    const { core } = this.#parts
    const groups = new Map<string, LiveTask[]>()
    for (const live of core) {
      const { recurrence, startWithinMs } = live.task.spec
      if (recurrence || startWithinMs !== undefined || !isMeant(live)) continue
      const name = core.line.groupOf(live)
      const group = groups.get(name)
      if (group) group.push(live)
      else groups.set(name, [live])
    }
    for (const group of groups.values()) {
      group.sort((a, b) => core.line.orderOf(a) - core.line.orderOf(b) || a.task.arrival - b.task.arrival)
      for (const live of group.slice(this.#kept(group))) {
        core.remove(live)
        this.#park(live)
      }
    }
  }

  #kept([first]: readonly LiveTask[]): number {
    if (first?.where === 'noHandler') return 0
    return Math.max(this.#keptOfAGroup, first?.where === 'ready' ? Math.floor(this.#parts.capacity / 4) : 0)
  }

  #park(live: LiveTask): void {
    const { core, tasks } = this.#parts
    const { task } = live
    tasks.remove(live)
    core.parked.add(core.line.groupOf(live), task.spec.id, core.line.orderOf(live), task.arrival)
  }

  /** Brings back the first of the groups of which little is left in memory. */
  #fetchWhatLacks(): void {
    const { core } = this.#parts
    for (const group of core.takeTouched()) {
      if (core.line.inMemory(group) >= this.#keptOfAGroup / 2) continue
      const ids = core.parked.fetch(group, group.startsWith('lane') ? MAX_FETCH : this.#keptOfAGroup)
      if (ids.length > 0) void this.#fetch(group, ids)
    }
  }

  async #fetch(group: string, ids: readonly string[]): Promise<void> {
    const { core, tasks, store, goOn, wake, onFailed } = this.#parts
    try {
      const found = await store.get(ids)
      core.parked.fetched(group)
      ids.forEach((id, i) => {
        const task = found[i]
        // whoever asked for a change meanwhile has it already
        if (!core.parked.remove(id) || !task || tasks.get(id)) return
        const live = new LiveTask(task, true)
        tasks.add(live)
        goOn(live)
      })
    } catch (error) {
      core.parked.notFetched(group, ids)
      onFailed(error)
    }
    core.touch(group)
    wake()
  }
}
