import type { Instant } from '../task/instant.js'
import { isQuarantined } from '../task/interruption.js'
import type { Task } from '../task/task.js'
import type { DispatchCore } from './dispatch-core.js'
import type { LiveTasks } from './live-tasks.js'
import type { LoadedHandlers } from './loaded-handlers.js'

export type BlockedReason = 'handlerMissing' | 'concurrencyKey' | 'handlerLimit' | 'paused'

/** Why a waiting task does not start; undefined: it does as soon as it is due and a slot is free. */
export function blockedReason(
  task: Task,
  now: Instant,
  { core, tasks, handlers }: { core: DispatchCore; tasks: LiveTasks; handlers: LoadedHandlers },
): BlockedReason | undefined {
  if (task.state !== 'scheduled') return undefined
  if (task.paused) return 'paused'
  if (!handlers.get(task.spec.handler)) return 'handlerMissing'
  if (task.notBefore > now) return undefined
  const live = tasks.get(task.spec.id)
  const parkedIn = core.parked.groupOf(task.spec.id)
  if (parkedIn?.startsWith('limit')) return 'handlerLimit'
  const { concurrencyKey } = task.spec
  if (live ? live.where === 'behindKey' : core.line.isKeyHeld(concurrencyKey)) return 'concurrencyKey'
  return live?.where === 'atLimit' && !isQuarantined(task) ? 'handlerLimit' : undefined
}
