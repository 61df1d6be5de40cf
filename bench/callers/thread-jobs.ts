import { setTimeout as sleep } from 'node:timers/promises'
import type { AttemptEnd, AttemptRequest } from '../../server/executor/executor.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'
import { BUILT_HANDLERS, BuiltExecutor } from './built.js'
import { type Measured, measured } from './measured.js'

/**
 * What the threads alone can carry: attempts of `echo`, given in bursts, one burst a slot; nothing of gRPC, scheduler or store.
 *
 * @param burst - 1: one attempt after another, each waited for; the times are of such a round trip.
 */
export async function threadRoundTrips(given: {
  readonly attempts: number
  readonly burst: number
  readonly slots: number
}): Promise<Measured> {
  const { attempts, burst, slots } = given
  const catalogue = createCatalogue(await loadHandlers([BUILT_HANDLERS]))
  const executor = new BuiltExecutor({ catalogue, modules: [BUILT_HANDLERS], threadSlots: slots })
  let told: (ends: readonly AttemptEnd[]) => void = () => {}
  executor.listen({
    began() {},
    ended: (ends) => told(ends),
    returned() {},
    released() {},
  })
  await executor.ready()
  let startId = 0
  const run = (count: number, times: number[]): Promise<void> =>
    new Promise((resolve) => {
      const bursts = new Map<number, { left: number; readonly since: number }>()
      let left = count
      let started = 0
      let open = 0
      const give = (): void => {
        for (; open < slots && started < count; open++) {
          const size = Math.min(burst, count - started)
          const members = Array.from({ length: size }, () => attempt(++startId))
          const state = { left: size, since: performance.now() }
          for (const member of members) bursts.set(member.startId, state)
          started += size
          executor.start('thread', members)
        }
      }
      told = (ends) => {
        for (const end of ends) {
          const state = bursts.get(end.startId)
          bursts.delete(end.startId)
          if (state === undefined || --state.left > 0) continue
          times.push(performance.now() - state.since)
          open--
        }
        left -= ends.length
        if (left <= 0) resolve()
        else setImmediate(give)
      }
      give()
    })
  try {
    await run(Math.min(attempts, 2_000), [])
    await sleep(10)
    return await measured({ pid: process.pid }, attempts, (times) => run(attempts, times))
  } finally {
    await executor.close()
  }
}

function attempt(startId: number): AttemptRequest {
  return {
    startId,
    taskId: `task-${startId}`,
    handler: 'echo',
    run: 1,
    attempt: 1,
    payload: { kind: 'json', text: '{"n":1,"text":"hello world, hello world, hello world"}' },
    timeoutMs: 3_600_000,
    dueTime: 0,
    notBefore: 0,
    createTime: 0,
    labels: {},
    traceparent: '',
    tracestate: '',
    alone: false,
  }
}
