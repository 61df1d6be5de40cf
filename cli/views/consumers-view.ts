import type { ConsumerInfo } from '../../client/index.js'
import { printable } from '../printable.js'
import { showRelative } from '../relative-time.js'
import { showTable } from '../table.js'
import type { Terminal } from '../terminal.js'

/** Durable consumers as a table: who is behind, and whether somebody reads. */
export function consumersView(consumers: readonly ConsumerInfo[], terminal: Terminal): string {
  const now = terminal.now()
  const rows = consumers.map((consumer) => [
    printable(consumer.name),
    consumer.lag.toLocaleString('en-US'),
    consumer.connected ? 'reading' : 'away',
    consumer.activeTime ? showRelative(consumer.activeTime, now) : '',
    printable(whatItReads(consumer)),
  ])
  return showTable(terminal, ['consumer', 'behind', '', 'active', 'reads'], rows)
}

function whatItReads({ filter, includeAttempts, lossy }: ConsumerInfo): string {
  const { taskIds, handlers, labels, outcomes, origins } = filter
  const parts = [
    taskIds && `${taskIds.length} ${taskIds.length === 1 ? 'task' : 'tasks'}`,
    handlers && `handler ${handlers.join(', ')}`,
    ...Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`),
    outcomes && `outcome ${outcomes.join(', ')}`,
    origins && `origin ${origins.join(', ')}`,
  ].filter((part) => part !== undefined)
  return [
    parts.length === 0 ? 'everything' : parts.join('; '),
    ...(includeAttempts ? ['attempts too'] : []),
    ...(lossy ? ['lossy'] : []),
  ].join('; ')
}
