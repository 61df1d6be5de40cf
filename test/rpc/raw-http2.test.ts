import {
  type ClientHttp2Session,
  connect as connectHttp2,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { connect as connectTcp } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { rpc, TestServer } from './test-server.js'

const GET_STATS = rpc.getStats.path

interface Answer {
  /** grpc-status, or http for one that never came so far. */
  readonly status: string
}

interface Sent {
  readonly headers?: Record<string, string>
  readonly body?: Buffer
}

/** A message as gRPC frames it. */
function framed(message: Buffer, { compressed = 0, length = message.length } = {}): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(compressed, 0)
  head.writeUInt32BE(length, 1)
  return Buffer.concat([head, message])
}

async function send(
  open: ClientHttp2Session,
  { headers = {}, body = framed(Buffer.alloc(0)) }: Sent,
): Promise<Answer> {
  const stream = open.request({
    [constants.HTTP2_HEADER_METHOD]: 'POST',
    [constants.HTTP2_HEADER_PATH]: GET_STATS,
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  let status = ''
  const take = (fields: IncomingHttpHeaders & { ':status'?: number }): void => {
    const { 'grpc-status': grpc, ':status': http = 200 } = fields
    status ||= typeof grpc === 'string' ? grpc : ''
    if (status === '' && http !== 200) status = `http ${http}`
  }
  stream.on('response', take).on('trailers', take)
  stream.on('error', () => {
    status ||= 'reset'
  })
  stream.resume()
  // Node has ended a GET by itself
  if (!stream.writableEnded) stream.end(body)
  await once(stream, 'close')
  return { status: status || `reset ${stream.rstCode}` }
}

async function openSession(test: TestServer): Promise<ClientHttp2Session> {
  const open = connectHttp2(`http://${test.address}`)
  open.on('error', () => {})
  onTestFinished(() => open.destroy())
  await once(open, 'connect')
  return open
}

const withoutContentType = { 'content-type': '' }

describe('a malformed request', () => {
  it.each<[string, Sent]>([
    ['without a content type', { headers: withoutContentType }],
    ['by GET', { headers: { ':method': 'GET' }, body: Buffer.alloc(0) }],
    ['to //', { headers: { ':path': '//' } }],
    ['to /__proto__', { headers: { ':path': '/__proto__' } }],
    [
      'to a method of 60,000 characters',
      { headers: { ':path': `/punctual.v1.SchedulerService/${'x'.repeat(60_000)}` } },
    ],
    ['with a deadline of abc', { headers: { 'grpc-timeout': 'abc' } }],
    ['with a negative deadline', { headers: { 'grpc-timeout': '-5S' } }],
    ['with a deadline of 11,000 years', { headers: { 'grpc-timeout': '99999999H' } }],
    ['with a bad binary header', { headers: { 'x-thing-bin': '%%%' } }],
    [
      'with an unknown encoding',
      { headers: { 'grpc-encoding': 'snappy' }, body: framed(Buffer.from('x'), { compressed: 1 }) },
    ],
    [
      'with garbage for gzip',
      { headers: { 'grpc-encoding': 'gzip' }, body: framed(Buffer.from('garbage'), { compressed: 1 }) },
    ],
    ['with a frame that is cut', { body: framed(Buffer.from('x'), { length: 100 }) }],
    ['with a length of 4 GiB', { body: framed(Buffer.alloc(0), { length: 0xffffffff }) }],
    [
      'with two messages where one is due',
      { body: Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))]) },
    ],
    ['with no message at all', { body: Buffer.alloc(0) }],
    [
      'with bytes that are no message',
      { headers: { ':path': rpc.schedule.path }, body: framed(Buffer.of(0x0a, 0xff)) },
    ],
    ['with a field number 0', { headers: { ':path': rpc.getTask.path }, body: framed(Buffer.of(0, 1, 2)) }],
    [
      'with a text that is not UTF-8',
      { headers: { ':path': rpc.getTask.path }, body: framed(Buffer.of(0x0a, 2, 0xff, 0xfe)) },
    ],
  ])('%s gets an error, and the connection goes on (C116)', async (name, sent) => {
    const test = await TestServer.start()
    const open = await openSession(test)
    const { status } = await send(open, sent)
    // grpc-js is content with these
    const taken = [
      'with a bad binary header',
      'with a negative deadline',
      'with a deadline of 11,000 years',
    ].includes(name)
    expect(status === '0').toBe(taken)
    expect(await send(open, {})).toEqual({ status: '0' })
    expect((await test.call(rpc.listTasks)).tasks).toEqual([])
  })

  it.each([
    ['bytes that are no message', rpc.schedule.path, Buffer.of(0x0a, 0xff)],
    ['a text that is not UTF-8', rpc.getTask.path, Buffer.of(0x0a, 2, 0xff, 0xfe)],
    ['a field number 0', rpc.streamResults.path, Buffer.of(0, 1, 2)],
  ])('is INVALID_ARGUMENT for %s', async (_, path, bytes) => {
    const test = await TestServer.start()
    expect(await send(await openSession(test), { headers: { ':path': path }, body: framed(bytes) })).toEqual({
      status: '3',
    })
  })
})

describe('a peer', () => {
  it('that does not speak HTTP/2 disturbs nobody', async () => {
    const test = await TestServer.start()
    const socket = connectTcp(test.server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await once(socket.resume(), 'close')
    expect((await test.call(rpc.getServerInfo)).version).not.toBe('')
  })

  it('that vanishes in the middle of a stream is let go', async () => {
    const test = await TestServer.start()
    const open = await openSession(test)
    const stream = open.request({
      ':method': 'POST',
      ':path': rpc.streamResults.path,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    stream.on('error', () => {})
    stream.end(framed(Buffer.alloc(0)))
    await once(stream, 'data')
    expect((await test.call(rpc.getStats)).openStreams).toBe(1n)
    open.destroy()
    await expect.poll(async () => (await test.call(rpc.getStats)).openStreams).toBe(0n)
  })
})
