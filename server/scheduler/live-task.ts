import type { AttemptEnd, Lane } from '../executor/executor.js'
import type { Task } from '../task/task.js'
import type { Ask } from './ask.js'
import type { Gate } from './gates.js'

const NO_GATES: readonly Gate[] = []

/** Where a task in memory is, as far as starting it is concerned. */
export type Where =
  /** Not for the dispatch core: a change of it is being stored, or its attempt is over and being stored. */
  | 'held'
  /** Its time has not come. */
  | 'pending'
  /** Due, and it may take a slot. */
  | 'ready'
  /** Due, behind another task of the same concurrency key. */
  | 'behindKey'
  /** Due, but its handler has as many attempts as it allows, or another suspect is in quarantine. */
  | 'atLimit'
  /** Due, but its handler is not loaded. */
  | 'noHandler'
  /** Due, behind a task of its group that is parked; about to be parked itself. */
  | 'behindParked'
  /** Handed to the executor, or about to be. */
  | 'handedOut'

/** One slot that works through its members one after another. */
export interface Burst {
  readonly lane: Lane
  readonly members: LiveTask[]
  /** Members that have neither ended nor been returned. */
  open: number
}

/** A task in memory: the stored state as it was last known, and what is going on with it. The only mutable thing about a task, owned by the scheduler. */
export class LiveTask {
  task: Task
  where: Where = 'held'
  /** Its number in the dispatch core; -1 while it is not there. */
  place = -1
  /** A write that decides its next state is under way: what happens meanwhile waits here, in `begunUs`, `end` and `asks`. */
  busy = false
  /** The store counts it as handed to this scheduler. */
  taken: boolean
  /** The attempt that was handed out; 0 = none. */
  startId = 0
  burst: Burst | undefined
  /** The run that was found due at a look: it is open from then on, whatever slots of its rhythm pass while it waits. 0 = none. */
  openRun = 0
  /** The concurrency key that it holds; '' = none. */
  heldKey = ''
  /** The limits of which it takes a part. */
  heldGates: readonly Gate[] = NO_GATES
  /** The limit that holds it up, while `atLimit`. */
  waitsAt: Gate | undefined
  /** The clock reading that decided the start, in microseconds: no start time is before it. */
  decidedUs = 0
  /** The handler began, in microseconds; 0 = not that we know. */
  begunUs = 0
  end: AttemptEnd | undefined
  /** Told never to have begun. */
  returned = false
  /** Its outcome is known, but its handler still runs: slot, key and task stay held. */
  lingering = false
  asks: Ask[] | undefined
  /** A cancel that is stored and waits to hear whether the attempt had begun. */
  stopping: Ask | undefined

  constructor(task: Task, taken: boolean) {
    this.task = task
    this.taken = taken
  }
}
