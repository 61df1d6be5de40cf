import { onTestFinished } from 'vitest'
import { type ClientOptions, createClient, type SchedulerClient } from '../../client/index.js'
import { FakeService } from './fake-service.js'
import { ManualClock } from './manual-clock.js'

/** A fake server, a client of it, and the client's clock; gone when the test is over. */
export async function startClient(options: Partial<ClientOptions> = {}): Promise<{
  service: FakeService
  client: SchedulerClient
  clock: ManualClock
}> {
  const service = await FakeService.start()
  const clock = new ManualClock()
  // the upper end of each back-off
  const client = createClient({ address: service.address, clock, random: () => 1, ...options })
  onTestFinished(async () => {
    const closed = client.close()
    // a test that leaves calls unanswered need not wait for them
    clock.advance(60_000)
    await closed
    service.stop()
  })
  return { service, client, clock }
}

/** A signal that counts its listeners. */
export function countedSignal(): {
  controller: AbortController
  signal: AbortSignal
  listeners: () => number
} {
  const controller = new AbortController()
  const { signal } = controller
  let count = 0
  const add = signal.addEventListener.bind(signal)
  const remove = signal.removeEventListener.bind(signal)
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    count++
    add(...args)
  }
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    count--
    remove(...args)
  }
  return { controller, signal, listeners: () => count }
}
