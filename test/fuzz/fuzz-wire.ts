import * as fc from 'fast-check'
import { connect as connectHttp2 } from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { Log } from '../../server/task/log.js'
import { SILENT } from '../../server/task/log.js'
import { rpc, RpcFailure, TestServer } from '../rpc/test-server.js'
import { anyBytes } from './any-bytes.js'
import { anyConnection, anyHeaders } from './any-http2.js'
import { GOOD_REQUESTS, GOOD_STREAM_REQUESTS } from './good-requests.js'

/** Requests that are under way together. */
const TOGETHER = 25
/** A call that waits, as a well formed one may, is left after this. */
const WAIT_MS = 40
/** No other call takes that long, however busy the machine is. */
const PATIENCE_MS = 30_000

/** Codes with which a request may be refused, whatever it is. */
const REFUSALS = new Set([
  'INVALID_ARGUMENT',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'FAILED_PRECONDITION',
  'OUT_OF_RANGE',
  'RESOURCE_EXHAUSTED',
  'UNIMPLEMENTED',
])

interface Sent {
  readonly path: string
  readonly bytes: Buffer
}

const anyCall: fc.Arbitrary<Sent> = fc
  .constantFrom(...Object.keys(GOOD_REQUESTS))
  .chain((path) => fc.record({ path: fc.constant(path), bytes: anyBytes(GOOD_REQUESTS[path] ?? []) }))

/** A server that starts nothing, and everything that it logged as an error. */
async function startServer(): Promise<{ test: TestServer; errors: string[] }> {
  const errors: string[] = []
  const log: Log = {
    ...SILENT,
    error: (message, facts) => void errors.push(`${message} ${String(facts?.['error'])}`),
  }
  return { test: await TestServer.start({ flags: { hold: true }, log }), errors }
}

async function expectAlive({ test, errors }: { test: TestServer; errors: readonly string[] }): Promise<void> {
  expect(errors).toEqual([])
  const { version } = await test.call(rpc.getServerInfo, {}, test.client())
  expect(version).not.toBe('')
}

/** Whether it answers others. */
async function isAlive(test: TestServer): Promise<boolean> {
  const { startTime } = await test.call(rpc.getStats)
  return startTime !== undefined
}

/** What is wrong with the answer to a call; undefined: nothing. */
async function answer(test: TestServer, { path, bytes }: Sent): Promise<string | undefined> {
  try {
    const patienceMs = path === rpc.waitForResult.path ? WAIT_MS : PATIENCE_MS
    await test.callRaw(path, bytes, { deadline: Date.now() + patienceMs })
    return undefined
  } catch (error) {
    if (!(error instanceof RpcFailure)) throw error
    const { code, reason } = error
    if (code === 'DEADLINE_EXCEEDED' && path === rpc.waitForResult.path) return undefined
    if (REFUSALS.has(code) && reason !== '') return undefined
    return `${path} ${bytes.toString('hex')}: ${code} ${reason} ${error.message}`
  }
}

async function streamEnd(test: TestServer, bytes: Buffer): Promise<string | undefined> {
  const client = test.client()
  const call = client.makeServerStreamRequest(
    rpc.streamResults.path,
    (all: Buffer) => all,
    (all: Buffer) => all,
    bytes,
    { deadline: Date.now() + 10 * WAIT_MS },
  )
  try {
    for await (const _ of call);
    return undefined
  } catch (error) {
    const { code, reason } = new RpcFailure(error as never)
    if (code === 'DEADLINE_EXCEEDED' || (REFUSALS.has(code) && reason !== '')) return undefined
    return `${bytes.toString('hex')}: ${code} ${reason}`
  } finally {
    client.close()
  }
}

/** @param inputs - Requests, at least. */
export function fuzzWire(inputs: number): void {
  const few = Math.ceil(inputs / 20)

  describe('whatever comes over the wire', () => {
    it('each call is answered or refused with a reason; nothing is unforeseen', async () => {
      const server = await startServer()
      await fc.assert(
        fc.asyncProperty(fc.array(anyCall, { minLength: TOGETHER, maxLength: TOGETHER }), async (calls) => {
          const wrong = await Promise.all(calls.map((call) => answer(server.test, call)))
          expect(wrong.filter((one) => one !== undefined)).toEqual([])
          expect(server.errors).toEqual([])
        }),
        { numRuns: Math.ceil(inputs / TOGETHER) },
      )
      await expectAlive(server)
    })

    it('each stream is served or refused with a reason', async () => {
      const server = await startServer()
      const requests = fc.array(anyBytes(GOOD_STREAM_REQUESTS), { minLength: TOGETHER, maxLength: TOGETHER })
      await fc.assert(
        fc.asyncProperty(requests, async (all) => {
          const wrong = await Promise.all(all.map((bytes) => streamEnd(server.test, bytes)))
          expect(wrong.filter((one) => one !== undefined)).toEqual([])
        }),
        { numRuns: Math.ceil(few / TOGETHER) },
      )
      await expectAlive(server)
    })

    it('any headers leave the server alive', async () => {
      const server = await startServer()
      await fc.assert(
        fc.asyncProperty(anyHeaders(Object.keys(GOOD_REQUESTS)), anyCall, async (headers, { bytes }) => {
          const session = connectHttp2(`http://${server.test.address}`)
          session.on('error', () => {})
          const stream = session.request(headers)
          stream.on('error', () => {})
          stream.resume()
          if (!stream.writableEnded) stream.end(bytes)
          expect(await isAlive(server.test)).toBe(true)
          session.destroy()
        }),
        { numRuns: few },
      )
      await expectAlive(server)
    })

    it('any frames leave the server alive', async () => {
      const server = await startServer()
      await fc.assert(
        fc.asyncProperty(anyConnection, async (bytes) => {
          const socket = connectTcp(server.test.server.port, '127.0.0.1')
          socket.on('error', () => {})
          await once(socket, 'connect')
          socket.write(bytes)
          expect(await isAlive(server.test)).toBe(true)
          socket.destroy()
        }),
        { numRuns: few },
      )
      await expectAlive(server)
    })
  })
}
