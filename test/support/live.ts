import { DispatchCore, type DispatchParts } from '../../server/scheduler/dispatch-core.js'
import { LiveTask } from '../../server/scheduler/live-task.js'
import type { LoadedHandler } from '../../server/scheduler/loaded-handlers.js'
import { PendingHeap } from '../../server/scheduler/pending-heap.js'
import type { Task } from '../../server/task/task.js'
import type { GivenSpec } from './task-specs.js'
import { NOW, waitingTask } from './tasks.js'

/** A task in memory that waits. */
export function live(spec: GivenSpec = {}, changes: Partial<Task> = {}): LiveTask {
  return new LiveTask(waitingTask(spec, changes), true)
}

export interface GivenCore {
  readonly thread?: number
  readonly shared?: number
  readonly parts?: Partial<DispatchParts>
  /** Default: every handler is loaded, in lane `thread`, without limit. */
  readonly handlers?: Readonly<Record<string, Partial<LoadedHandler> | undefined>>
}

/** A core, and what starts in it as ids. */
export function core({ thread = 1, shared = 1, handlers, parts }: GivenCore = {}): DispatchCore {
  const info = (name: string): LoadedHandler | undefined => {
    if (handlers && !(name in handlers)) return undefined
    return { lane: 'thread', maxConcurrent: 0, ...handlers?.[name] }
  }
  return new DispatchCore({
    pending: new PendingHeap(),
    handlers: { get: info },
    slots: { thread, shared },
    ...parts,
  })
}

/** Starts all that can start. */
export function started(from: DispatchCore, limit = Infinity): LiveTask[] {
  return from.start(limit).flatMap(({ members }) => members)
}

/** The attempt of a task is over and stored. */
export function finish(from: DispatchCore, done: LiveTask): void {
  from.slotFreed(done)
  from.settled(done)
}

/** Tasks arrive. */
export function addAll(to: DispatchCore, ...tasks: readonly LiveTask[]): void {
  for (const task of tasks) to.add(task, NOW)
}

/** In which order the due tasks start when slots become free one after another. */
export function startOrder(of: DispatchCore): LiveTask[] {
  const all: LiveTask[] = []
  for (let next = started(of); next.length > 0; next = started(of)) {
    all.push(...next)
    for (const task of next) finish(of, task)
  }
  return all
}

/** Due so long after NOW. */
export const after = (delayMs: number): GivenSpec => ({ when: { kind: 'after', delayMs } })
