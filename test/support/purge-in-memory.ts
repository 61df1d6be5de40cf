import type { LogEntry, PurgeRules, PurgeStep } from '../../server/store/task-store.js'
import { isLive } from '../../server/task/task.js'
import type { MemoryDisk } from './memory-disk.js'

const FAILED = new Set<string>(['failed', 'timedOut', 'expired'])

/** What `TaskStore.purge` promises, in the plainest way: everything is looked at, an entry at a time. */
export function purgeInMemory(disk: MemoryDisk, rules: PurgeRules): PurgeStep {
  const before = { gone: disk.gone.size, tasks: disk.rows.size }
  const isDue = ({ outcome, commitTime }: LogEntry): boolean => commitTime < rules.before[outcome]
  const newest = Math.max(...Object.values(rules.before))
  let looked = 0
  for (; disk.floor < Math.min(disk.log.length, rules.keepAfter); looked++) {
    const entry = disk.log[disk.floor]?.entry
    const isOver = disk.resultBytes > rules.maxBytes
    if (!entry || (entry.commitTime >= newest && !isOver)) break
    if (looked >= rules.maxEntries) return { ...removed(disk, before), more: true }
    disk.floor += 1
    const stays = entry.kind === 'result' && !isDue(entry) && (!isOver || FAILED.has(entry.outcome))
    if (!stays) disk.gone.add(entry.position)
  }
  for (const { entry } of disk.log.slice(0, disk.floor))
    if (isDue(entry) || disk.resultBytes > rules.maxBytes) disk.gone.add(entry.position)
  forget(disk, rules)
  return { ...removed(disk, before), more: false }
}

/** Tasks whose last result is gone and whose id need not be remembered. */
function forget(disk: MemoryDisk, { now }: PurgeRules): void {
  for (const [id, { task }] of disk.rows) {
    const last = disk.log.findLast(({ entry }) => entry.taskId === id && entry.kind === 'result')?.entry
    const isKept = last !== undefined && !disk.gone.has(last.position)
    if (isLive(task.state) || isKept || task.endTime + task.spec.rememberIdForMs > now) continue
    disk.rows.delete(id)
    disk.byArrival.delete(task.arrival)
  }
}

const removed = (disk: MemoryDisk, before: { gone: number; tasks: number }) => ({
  entries: disk.gone.size - before.gone,
  tasks: before.tasks - disk.rows.size,
})
