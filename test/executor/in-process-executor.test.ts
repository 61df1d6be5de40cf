import { loadHandlers } from '../../server/handlers/load-handlers.js'
import { InProcessExecutor } from '../../testing/in-process-executor.js'
import { runHandlers } from '../../testing/run-handlers.js'
import { VirtualClock } from '../../testing/virtual-clock.js'
import { executorContract } from './executor-contract.js'
import { RecordedEvents } from './recorded-events.js'

const HOUR_MS = 3_600_000

executorContract('the test kit', async () => {
  const handlers = await loadHandlers([new URL('./contract-handlers.ts', import.meta.url)])
  const clock = new VirtualClock()
  const events = new RecordedEvents()
  const slots = { thread: 2, shared: 4 }
  const executor = new InProcessExecutor({ clock, slots, run: runHandlers(handlers) })
  executor.listen(events)
  const until = async (condition: () => boolean) => {
    for (const end = clock.steady() + HOUR_MS; !condition(); await clock.advance(1))
      if (clock.steady() > end) throw new Error(`waited in vain; told: ${events.told.join(', ')}`)
  }
  return { executor, events, until }
})
