import { once } from 'node:events'
import { Client, credentials, type MethodDefinition, Server, ServerCredentials, status } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { addLateService, type ServiceTarget } from '../../server/rpc/late-service.js'
import { SILENT } from '../../server/task/log.js'
import { rpc, TestServer } from './test-server.js'

const same = (bytes: Buffer): Buffer => bytes
const ECHO = '/test.Echo/Echo'
const WATCH = '/test.Echo/Watch'
/** Answered by a server that has loaded nothing. */
const PING = '/test.Echo/Ping'

/** A library whose messages are texts of letters only. */
function library(watched: string[]): (target: ServiceTarget) => void {
  const read = (bytes: Buffer): string => {
    const text = bytes.toString()
    if (!/^[a-z]*$/.test(text)) throw new Error('letters only')
    return text
  }
  const method = (path: string, responseStream: boolean): MethodDefinition<string, string> => ({
    path,
    requestStream: false,
    responseStream,
    requestSerialize: (text) => Buffer.from(text),
    requestDeserialize: read,
    responseSerialize: (text) => Buffer.from(text),
    responseDeserialize: read,
  })
  return (target) =>
    target.addService(
      { echo: method(ECHO, false), watch: method(WATCH, true) },
      {
        echo: (call: { request: string }, send: (error: object | null, text?: string) => void) =>
          call.request === 'bad'
            ? send({ code: status.NOT_FOUND, details: 'not there' })
            : send(null, call.request),
        watch: (call: { request: string; write: (text: string) => void; end: () => void }) => {
          watched.push(call.request)
          call.write(call.request)
          call.end()
        },
      },
    )
}

const bytesOf = (path: string) => ({
  path,
  requestSerialize: same,
  requestDeserialize: same,
  responseSerialize: same,
  responseDeserialize: same,
})

async function serve(load: () => Promise<(target: ServiceTarget) => void>, log = SILENT): Promise<Client> {
  const server = new Server()
  addLateService(server, [{ path: ECHO }, { path: WATCH, streams: 'answers' }], load, log)
  server.addService(
    { ping: { ...bytesOf(PING), requestStream: false, responseStream: false } },
    { ping: (_: unknown, send: (error: null, bytes: Buffer) => void) => send(null, Buffer.alloc(0)) },
  )
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    )
  })
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure())
  onTestFinished(() => {
    client.close()
    server.forceShutdown()
  })
  return client
}

const call = (client: Client, path: string, text: string): Promise<string> =>
  new Promise((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, Buffer.from(text), (error, answer) =>
      error ? reject(error) : resolve(String(answer)),
    )
  })
const echo = (client: Client, text: string): Promise<string> => call(client, ECHO, text)

describe('a service of a library that is loaded late', () => {
  it('is loaded once, when it is first called', async () => {
    let loads = 0
    const client = await serve(() => {
      loads += 1
      return Promise.resolve(library([]))
    })
    expect(loads).toBe(0)
    expect(await Promise.all(['a', 'b', 'c'].map((text) => echo(client, text)))).toEqual(['a', 'b', 'c'])
    expect(loads).toBe(1)
  })

  it('can be loaded before', async () => {
    let loads = 0
    const warm = addLateService(
      new Server(),
      [{ path: ECHO }],
      () => {
        loads += 1
        return Promise.resolve(library([]))
      },
      SILENT,
    )
    await warm()
    await warm()
    expect(loads).toBe(1)
  })

  it("gives the library's errors as they are", async () => {
    const client = await serve(() => Promise.resolve(library([])))
    await expect(echo(client, 'bad')).rejects.toMatchObject({ code: status.NOT_FOUND, details: 'not there' })
  })

  it('refuses what the library cannot read, and goes on', async () => {
    const client = await serve(() => Promise.resolve(library([])))
    await expect(echo(client, '!')).rejects.toMatchObject({ code: status.INVALID_ARGUMENT })
    expect(await echo(client, 'a')).toBe('a')
  })

  it('that cannot be loaded is a fault, in the log under its number; the next call tries again', async () => {
    let loads = 0
    const logged: unknown[] = []
    const log = { ...SILENT, error: (...entry: unknown[]) => void logged.push(entry) }
    const client = await serve(() => {
      loads += 1
      return loads === 1 ? Promise.reject(new Error('no such file')) : Promise.resolve(library([]))
    }, log)
    await expect(echo(client, 'a')).rejects.toMatchObject({
      code: status.INTERNAL,
      details: expect.stringMatching(/^internal error, in the server's log as /) as string,
    })
    expect(logged).toEqual([
      [expect.any(String), expect.objectContaining({ method: ECHO, error: new Error('no such file') })],
    ])
    expect(await echo(client, 'a')).toBe('a')
  })

  it('does not hear of a call that was given up meanwhile', async () => {
    const watched: string[] = []
    let loaded = (): void => {}
    let asked = (): void => {}
    const isAsked = new Promise<void>((resolve) => {
      asked = resolve
    })
    const client = await serve(() => {
      asked()
      return new Promise((resolve) => {
        loaded = () => resolve(library(watched))
      })
    })
    const givenUp = client.makeServerStreamRequest(WATCH, same, same, Buffer.from('early'))
    givenUp.on('error', () => {})
    await isAsked
    givenUp.cancel()
    // the server hears of the cancellation before what is asked after it
    await call(client, PING, '')
    loaded()
    const later = client.makeServerStreamRequest(WATCH, same, same, Buffer.from('later'))
    expect(String((await once(later, 'data'))[0])).toBe('later')
    expect(watched).toEqual(['later'])
  })
})

describe('health and reflection', () => {
  it.each(['Check', 'Watch'])(
    'refuse a question of health (%s) that is no message, and go on',
    async (name) => {
      const test = await TestServer.start()
      const path = `/grpc.health.v1.Health/${name}`
      await expect(test.callRaw(path, Buffer.of(255, 255))).rejects.toMatchObject({
        code: 'INVALID_ARGUMENT',
      })
      expect((await test.callRaw('/grpc.health.v1.Health/Check', Buffer.alloc(0)))[1]).toBe(1)
    },
  )

  it('refuse a question of reflection that is no message, and go on', async () => {
    const test = await TestServer.start()
    const path = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo'
    const asking = test.client().makeBidiStreamRequest(path, same, same)
    asking.write(Buffer.of(255, 255))
    asking.on('data', () => {})
    const [error] = (await once(asking, 'error')) as [{ code: number }]
    expect(error.code).toBe(status.INVALID_ARGUMENT)
    expect((await test.call(rpc.getServerInfo)).version).not.toBe('')
  })
})
