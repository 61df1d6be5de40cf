import { ThreadExecutor, type ThreadExecutorOptions } from '../../server/executor/thread-executor.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'
import type { Log, LogFacts } from '../../server/task/log.js'
import type { ExecutorHarness } from '../executor/executor-contract.js'
import { RecordedEvents } from '../executor/recorded-events.js'

const WAIT_LIMIT_MS = 30_000

export interface LogLine {
  readonly level: string
  readonly message: string
  readonly facts: LogFacts
}

export interface ThreadHarness extends ExecutorHarness {
  readonly executor: ThreadExecutor
  readonly lines: LogLine[]
}

/** Real threads with the handlers of a module. */
export async function openThreads(
  module: URL,
  given: Partial<ThreadExecutorOptions> = {},
): Promise<ThreadHarness> {
  const modules = [module.href]
  const catalogue = createCatalogue(await loadHandlers(modules))
  const lines: LogLine[] = []
  const executor = new ThreadExecutor({
    catalogue,
    modules,
    threadSlots: 2,
    sharedSlots: 4,
    log: logInto(lines),
    ...given,
  })
  const events = new RecordedEvents()
  executor.listen(events)
  await executor.ready()
  return { executor, events, lines, until: (condition) => until(condition, () => events.told.join(', ')) }
}

/** Resolves when `condition` holds. @param seen - Told when it never does. */
export async function until(condition: () => boolean, seen: () => string = () => ''): Promise<void> {
  const limit = performance.now() + WAIT_LIMIT_MS
  while (!condition()) {
    if (performance.now() > limit)
      throw new Error(`waited in vain for ${condition.toString()}; seen: ${seen()}`)
    await pause(5)
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

function logInto(lines: LogLine[]): Log {
  const at =
    (level: string) =>
    (message: string, facts: LogFacts = {}) =>
      void lines.push({ level, message, facts })
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}
