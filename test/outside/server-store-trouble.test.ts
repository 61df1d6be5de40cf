import { DatabaseSync } from '@photostructure/sqlite'
import { Client, credentials } from '@grpc/grpc-js'
import { join } from 'node:path'
import { createClient, UnavailableError } from 'punctual'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Victim } from '../../chaos/victim.js'
import { within } from './child-script.js'

const LIMIT_MS = 60_000
/** Three times what is promised: machines of tests are slow. */
const HEALTH_LIMIT_MS = 3_000
const SERVING = 1
const NOT_SERVING = 2

/** Asks `grpc.health.v1.Health/Check`; answers its status, field 1. */
function healthOf(address: string): () => Promise<number | undefined> {
  const client = new Client(address, credentials.createInsecure())
  onTestFinished(() => client.close())
  const same = (bytes: Buffer): Buffer => bytes
  return () =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + HEALTH_LIMIT_MS
      client.makeUnaryRequest(
        '/grpc.health.v1.Health/Check',
        same,
        same,
        Buffer.alloc(0),
        { deadline },
        (error, answer) => {
          if (error) reject(error)
          else resolve(answer?.[1])
        },
      )
    })
}

/** Holds the lock of a store, as a backup tool might. */
function lock(data: string): { release(): void } {
  const other = new DatabaseSync(join(data, 'punctual.db'), { timeout: 5_000 })
  other.exec('BEGIN EXCLUSIVE')
  return {
    release() {
      other.exec('ROLLBACK')
      other.close()
    },
  }
}

describe('a store that another program has locked', () => {
  it('does not freeze the server: health answers, calls are refused soon, and go on when it is free (C082)', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address, retry: false })
    const health = healthOf(victim.address)
    expect(await health()).toBe(SERVING)
    const held = lock(victim.data)
    const refused = client.schedule('work', { ms: 0 }, { id: 'refused', deadlineMs: 10_000 })
    await expect(refused).rejects.toBeInstanceOf(UnavailableError)
    for (let i = 0; i < 10; i++) expect(await health()).toBeDefined()
    await within(LIMIT_MS, async () => (await health()) === NOT_SERVING)
    const { findings } = await client.stats()
    expect(findings).toMatchObject([{ kind: 'STORE_UNAVAILABLE' }])
    held.release()
    await within(LIMIT_MS, async () => (await health()) === SERVING)
    const task = await client.schedule('work', { ms: 0 }, { id: 'taken' })
    expect((await task.result()).outcome).toBe('succeeded')
    await expect(client.get('refused')).rejects.toMatchObject({ name: 'TaskNotFoundError' })
  })

  it('is waited for at a start, as long as a short lock lasts', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address })
    await client.schedule('work', { ms: 0 }, { id: 'before', delayMs: 600_000 })
    await victim.kill()
    const held = lock(victim.data)
    const started = victim.start()
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    held.release()
    await started
    expect((await client.get('before')).task.state).toBe('scheduled')
  })

  it('gets the results of what ran meanwhile as soon as it is free', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address })
    const task = await client.schedule('work', { ms: 1_500 }, { id: 'meanwhile' })
    await within(LIMIT_MS, async () => (await client.get('meanwhile')).task.state === 'running')
    const held = lock(victim.data)
    await new Promise((resolve) => setTimeout(resolve, 3_000))
    held.release()
    expect(await task.result({ timeoutMs: LIMIT_MS })).toMatchObject({ outcome: 'succeeded', attempts: 1 })
  })
})

describe('a disk that is full', () => {
  it('is said to callers; when there is room again, all that was acknowledged is there and the rest can be sent again', async () => {
    await using victim = await Victim.start([])
    await using client = createClient({ address: victim.address, retry: false, coalesce: false })
    await client.schedule('work', { ms: 0 }, { id: 'before', delayMs: 600_000 })
    victim.limitFileSize(256 * 1024)
    const acknowledged: string[] = []
    const refusals = new Set<string>()
    for (let i = 0; i < 400 && refusals.size === 0; i++) {
      const id = `filling/${i}`
      try {
        await client.schedule('work', { ms: 0, text: 'x'.repeat(20_000) }, { id, delayMs: 600_000 })
        acknowledged.push(id)
      } catch (error) {
        refusals.add((error as Error).name)
      }
    }
    expect([...refusals].every((name) => ['UnavailableError', 'ServerFullError'].includes(name))).toBe(true)
    expect(refusals.size).toBe(1)
    victim.limitFileSize(undefined)
    await within(LIMIT_MS, async () => {
      try {
        await client.schedule('work', { ms: 0 }, { id: 'after', delayMs: 600_000 })
        return true
      } catch {
        return false
      }
    })
    const stored = new Set<string>()
    for await (const { id } of client.list()) stored.add(id)
    expect([...acknowledged, 'before', 'after'].filter((id) => !stored.has(id))).toEqual([])
  })
})
