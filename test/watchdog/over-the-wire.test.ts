import { describe, expect, it } from 'vitest'
import type { TaskStore } from '../../server/store/task-store.js'
import { StoreUnavailableError } from '../../server/task/errors.js'
import { override } from '../../server/telemetry/port-override.js'
import { aTask, encode } from '../rpc/requests.js'
import { rpc, TestServer } from '../rpc/test-server.js'

const SERVING = 1
const NOT_SERVING = 2

/** The status in an answer of `grpc.health.v1.Health/Check`: field 1, one byte. */
async function health(test: TestServer): Promise<number | undefined> {
  return (await test.callRaw('/grpc.health.v1.Health/Check', Buffer.alloc(0)))[1]
}

describe('what the watchdog finds', () => {
  it('is in GetStats and in health, and gone from both when it is over', async () => {
    const fault = { is: false }
    const store = (bare: TaskStore): TaskStore =>
      override(bare, {
        insert: (requests) =>
          fault.is ? Promise.reject(new StoreUnavailableError('the disk is full')) : bare.insert(requests),
        reserveStartIds: (count) =>
          fault.is
            ? Promise.reject(new StoreUnavailableError('the disk is full'))
            : bare.reserveStartIds(count),
      })
    const test = await TestServer.start({ flags: { watchdogInterval: '1s' }, store })
    const { clock } = test
    await clock.advance(5_000)
    expect(await health(test)).toBe(SERVING)
    expect((await test.call(rpc.getStats)).findings).toEqual([])

    fault.is = true
    await expect(
      test.callRaw(rpc.schedule.path, encode({ task: aTask({ handler: 'echo' }) })),
    ).rejects.toMatchObject({
      reason: 'STORE_UNAVAILABLE',
    })
    await clock.advance(5_000)
    expect(await health(test)).toBe(NOT_SERVING)
    const { findings } = await test.call(rpc.getStats)
    expect(findings).toMatchObject([
      { kind: 'STORE_UNAVAILABLE', message: expect.stringContaining('the disk is full') as string },
    ])
    expect(findings[0]?.since).toBeDefined()

    fault.is = false
    await clock.advance(5_000)
    expect(await health(test)).toBe(SERVING)
    expect((await test.call(rpc.getStats)).findings).toEqual([])
  })

  it('never makes a server that drains look able again', async () => {
    const test = await TestServer.start({ flags: { watchdogInterval: '1s' } })
    const stopping = test.server.stop(0)
    await test.clock.advance(30_000)
    await stopping
    await expect(health(test)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
  })
})
