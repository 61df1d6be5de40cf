import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { StoreSettings } from '../../server/store/sqlite/channel.js'
import { ThreadChannel } from '../../server/store/sqlite/thread-channel.js'
import type { NumberedAnswer } from '../../server/store/sqlite/thread-messages.js'
import { SILENT } from '../../server/task/log.js'
import { FakeWorker } from './fake-worker.js'

vi.mock('node:worker_threads', async () => ({ Worker: (await import('./fake-worker.js')).FakeWorker }))

const settings: StoreSettings = {
  folder: 'data',
  durability: 'full',
  nowMs: 0,
  lockWaitMs: 0,
  diskReserveBytes: 0,
  maxPages: 0,
}

describe('the thread of a store', () => {
  let channel: ThreadChannel
  const thread = (name: string): FakeWorker => {
    const found = FakeWorker.started.findLast((worker) => worker.name === name)
    if (!found) throw new Error(`no thread ${name} was started`)
    return found
  }
  const writer = (): FakeWorker => thread('store')
  const opens = async (worker: FakeWorker, commit: number): Promise<void> => {
    worker.say({ kind: 'open', file: 'data/punctual.db', commit })
    await settled()
  }
  const settled = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve()
  }
  const ask = (): Promise<unknown> => {
    const asked = channel.write({ kind: 'nextWaiting' })
    asked.catch(() => {})
    return asked
  }
  /** The answers 'a', 'b' … to what the thread was asked, in order. */
  const answers = (): NumberedAnswer[] =>
    writer().asked.map((id, i) => ({ id, value: String.fromCharCode(97 + i) }))

  beforeEach(async () => {
    FakeWorker.started.length = 0
    channel = new ThreadChannel(settings, SILENT)
    const opened = channel.open()
    await opens(writer(), 6)
    await opens(thread('store-reader'), 0)
    await opened
  })
  afterEach(() => channel.close())

  it('answers what was prepared once its commit is made, not before', async () => {
    const asked = ask()
    await settled()
    writer().say({ kind: 'prepared', commit: 7, answers: answers() })
    const first = await Promise.race([asked, settled().then(() => 'nothing yet')])
    expect(first).toBe('nothing yet')
    writer().say({ kind: 'done', commit: 7, answers: [] })
    expect(await asked).toBe('a')
  })

  it('that dies after a commit leaves its answers behind: the next one knows that they hold', async () => {
    const asked = ask()
    await settled()
    const dying = writer()
    dying.say({ kind: 'prepared', commit: 7, answers: answers() })
    dying.die()
    await opens(writer(), 7)
    expect(writer()).not.toBe(dying)
    expect(await asked).toBe('a')
  })

  it('that dies before a commit has stored nothing: what it was asked is refused', async () => {
    const asked = ask()
    await settled()
    const dying = writer()
    dying.say({ kind: 'prepared', commit: 7, answers: answers() })
    dying.die()
    await opens(writer(), 6)
    await expect(asked).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' })
  })

  it('takes back what was prepared for a commit that failed, whatever commit comes next', async () => {
    const [a, b] = [ask(), ask()]
    await settled()
    const [first, second] = answers()
    const dying = writer()
    dying.say({ kind: 'prepared', commit: 7, answers: [first, second] as NumberedAnswer[] })
    dying.say({ kind: 'undone', commit: 7 })
    dying.say({ kind: 'prepared', commit: 7, answers: [first as NumberedAnswer] })
    dying.die()
    await opens(writer(), 7)
    expect(await a).toBe('a')
    await expect(b).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' })
  })

  it('is asked again what came meanwhile, after what was left has been answered', async () => {
    const order: string[] = []
    const left = ask()
    await settled()
    const dying = writer()
    dying.say({ kind: 'prepared', commit: 7, answers: answers() })
    dying.die()
    const meanwhile = ask()
    void left.then(() => order.push('left'))
    void meanwhile.then(() => order.push('meanwhile'))
    expect(writer().asked).toEqual([])
    await opens(writer(), 7)
    writer().say({ kind: 'done', commit: 7, answers: answers() })
    expect(await Promise.all([left, meanwhile])).toEqual(['a', 'a'])
    expect(order).toEqual(['left', 'meanwhile'])
  })

  it('that cannot be started anew is tried again with the next call', async () => {
    writer().die(new Error('out of memory'))
    const refused = ask()
    writer().say({ kind: 'failedToOpen', error: { name: 'StoreOpenError', message: 'gone', stack: '' } })
    await expect(refused).rejects.toMatchObject({ reason: 'STORE_UNAVAILABLE' })
    const asked = ask()
    await opens(writer(), 6)
    writer().say({ kind: 'done', commit: 6, answers: answers() })
    expect(await asked).toBe('a')
  })
})
