import { performance } from 'node:perf_hooks'
import type { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { ThreadExecutor } from '../../server/executor/thread-executor.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'
import { attemptRequest } from '../executor/attempt-request.js'
import { RecordedEvents } from '../executor/recorded-events.js'
import { openThreads, until } from './thread-harness.js'

const live = new Set<Worker>()
process.on('worker', (thread) => {
  live.add(thread)
  thread.once('exit', () => live.delete(thread))
})

const UNFIT = new URL('./unfit-handlers.ts', import.meta.url).href

it('threads that cannot load the handlers say why; what waits for them goes back, and they are not started in a hot loop', async () => {
  process.env['UNFIT_IN_THREADS'] = 'set in the main thread alone'
  const catalogue = createCatalogue(await loadHandlers([UNFIT]))
  const executor = new ThreadExecutor({ catalogue, modules: [UNFIT], threadSlots: 1 })
  const events = new RecordedEvents()
  executor.listen(events)
  executor.start('thread', [attemptRequest(1, 'unfit')])
  await expect(executor.ready()).rejects.toThrow('UNFIT_IN_THREADS is not set')
  await until(() => events.has('returned 1'))
  const from = performance.now()
  let starts = 0
  while (performance.now() - from < 1_500) {
    const id = 100 + starts
    executor.start('thread', [attemptRequest(id, 'unfit')])
    await until(() => events.has(`returned ${id}`))
    starts++
  }
  expect(starts).toBeLessThan(10)
  await executor.close()
})

it('threads for handlers with a memory limit of their own are started when needed, and end when idle', async () => {
  const { executor, events } = await openThreads(new URL('./faulty-handlers.ts', import.meta.url), {
    threadSlots: 1,
    times: { idleLimitMs: 300 },
  })
  const usual = live.size
  executor.start('thread', [attemptRequest(1, 'modest', 1)])
  await until(() => events.haveEnded(1))
  expect(events.outcome(1)).toMatchObject({ kind: 'succeeded' })
  expect(live.size).toBe(usual + 1)
  await until(() => live.size === usual)
  executor.start('thread', [attemptRequest(2, 'modest', 2)])
  await until(() => events.haveEnded(2))
  expect(events.outcome(2)).toMatchObject({ kind: 'succeeded' })
  await executor.close()
})

it('a closed executor leaves no thread behind, even while it starts them', async () => {
  const before = live.size
  const module = new URL('../executor/contract-handlers.ts', import.meta.url)
  const { executor } = await openThreads(module)
  executor.start('thread', [attemptRequest(1, 'deaf')])
  expect(live.size).toBe(before + 3)
  await executor.close()
  expect(live.size).toBe(before)
  const catalogue = createCatalogue(await loadHandlers([module]))
  const starting = new ThreadExecutor({ catalogue, modules: [module.href], threadSlots: 2 })
  starting.listen(new RecordedEvents())
  await starting.close()
  expect(live.size).toBe(before)
})

it.each([
  ['threadSlots', 0],
  ['sharedSlots', 1.5],
  ['memoryLimitMb', Number.NaN],
  ['maxOutputBytes', -1],
])('an option that cannot be is refused by name: %s', (name, value) => {
  const catalogue = createCatalogue(new Map())
  expect(() => new ThreadExecutor({ catalogue, modules: [], [name]: value })).toThrow(
    `${name} must be a whole number of 1 or more, got ${value}`,
  )
})
