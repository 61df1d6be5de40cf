import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { createClient } from 'punctual'
import { describe, expect, it } from 'vitest'
import { within } from './child-script.js'
import { ServerProcess } from './server-process.js'

/** Three times what is promised for a keepalive of 1 s: a second until it asks, a second for the answer. */
const NOTICE_LIMIT_MS = 6_000

/** A way to a server that can be cut as a pulled cable is: nothing passes, and nobody is told. */
class Cable implements AsyncDisposable {
  readonly address: string
  readonly #sockets: Socket[]
  readonly #close: () => void

  private constructor(address: string, sockets: Socket[], close: () => void) {
    this.address = address
    this.#sockets = sockets
    this.#close = close
  }

  static async to(server: string): Promise<Cable> {
    const sockets: Socket[] = []
    const [host = '', port = ''] = server.split(':')
    const listener = createServer((near) => {
      const far = connect(Number(port), host)
      for (const socket of [near, far]) socket.on('error', () => {})
      sockets.push(near, far)
      near.pipe(far)
      far.pipe(near)
    }).listen(0, '127.0.0.1')
    await once(listener, 'listening')
    const { port: own } = listener.address() as AddressInfo
    return new Cable(`127.0.0.1:${own}`, sockets, () => listener.close())
  }

  pull(): void {
    for (const socket of this.#sockets) socket.unpipe().pause()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#close()
    for (const socket of this.#sockets) socket.destroy()
  }
}

describe('a reader whose cable was pulled', () => {
  it('is noticed by the server, whose stream ends; its consumer is free for the next', async () => {
    await using server = await ServerProcess.start(['--keepalive', '1s'])
    await using cable = await Cable.to(server.address)
    await using far = createClient({ address: cable.address })
    await using near = createClient({ address: server.address })
    const lost = far.results({ consumer: 'audit', from: 'earliest' }).batches()
    await lost.next()
    const connected = async (): Promise<boolean[]> =>
      (await near.consumers()).map((consumer) => consumer.connected)
    expect(await connected()).toEqual([true])
    cable.pull()
    await within(NOTICE_LIMIT_MS, async () => (await near.stats()).openStreams === 0)
    expect(await connected()).toEqual([false])
  })

  it('notices it too, and goes on when there is a way again', async () => {
    await using server = await ServerProcess.start()
    await using cable = await Cable.to(server.address)
    const broken: string[] = []
    await using far = createClient({
      address: cable.address,
      heartbeatMs: 300,
      onBreak: ({ message }) => broken.push(message),
    })
    await using near = createClient({ address: server.address })
    const loop = far.results({ from: 'earliest' })[Symbol.asyncIterator]()
    await (await near.schedule('echo', 'before')).result()
    expect((await loop.next()).value).toMatchObject({ output: 'before' })
    cable.pull()
    const next = loop.next()
    await (await near.schedule('echo', 'meanwhile')).result()
    await within(NOTICE_LIMIT_MS, async () => broken.length > 0)
    expect(broken[0]).toContain('silent')
    expect((await next).value).toMatchObject({ output: 'meanwhile' })
    await loop.return?.()
  })
})
