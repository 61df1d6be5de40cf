import * as fc from 'fast-check'

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** DATA 0, HEADERS 1, PRIORITY 2, RST_STREAM 3, SETTINGS 4, PUSH_PROMISE 5, PING 6, GOAWAY 7, WINDOW_UPDATE 8, CONTINUATION 9, and some that do not exist. */
const MAX_FRAME_TYPE = 12
/** Compressed headers of a good call: `:method POST`, `:scheme http`, `:path /`, then whatever follows. */
const GOOD_HEADERS = Buffer.from([0x83, 0x86, 0x84])

interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Uint8Array
  /** The length that the frame says it has, when it lies. */
  readonly said: number | undefined
}

const anyFrame: fc.Arbitrary<Frame> = fc.record({
  type: fc.integer({ min: 0, max: MAX_FRAME_TYPE }),
  flags: fc.integer({ min: 0, max: 255 }),
  stream: fc.constantFrom(0, 1, 1, 1, 2, 3, 5, 2 ** 31 - 1),
  payload: fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constant(GOOD_HEADERS),
    fc.constant(new Uint8Array(8)),
  ),
  said: fc.oneof(
    { weight: 5, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.nat({ max: 2 ** 24 - 1 }) },
  ),
})

function encoded({ type, flags, stream, payload, said }: Frame): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(said ?? payload.length, 0, 3)
  head.writeUInt8(type, 3)
  head.writeUInt8(flags, 4)
  head.writeUInt32BE(stream >>> 0, 5)
  return Buffer.concat([head, payload])
}

/** What somebody may send on a new connection: frames in any order, or something else altogether. */
export const anyConnection: fc.Arbitrary<Buffer> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc
      .array(anyFrame, { maxLength: 12 })
      .map((frames) => Buffer.concat([PREFACE, encoded(SETTINGS), ...frames.map(encoded)])),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 100 }).map((bytes) => Buffer.from(bytes)) },
)

const SETTINGS: Frame = { type: 4, flags: 0, stream: 0, payload: new Uint8Array(0), said: undefined }

const headerText = fc.string({
  unit: fc.constantFrom(...'abcxyzABC0189-_./;:,=%+ "'.split('')),
  maxLength: 40,
})

/** Headers of a call to one of `paths`, with some of them wrong. */
export function anyHeaders(paths: readonly string[]): fc.Arbitrary<Record<string, string>> {
  const good = (...values: readonly string[]) => fc.oneof(fc.constantFrom(...values), headerText)
  return fc.record(
    {
      ':method': fc.constant('POST'),
      ':path': fc.oneof(
        fc.constantFrom(...paths),
        headerText.map((text) => `/${text.replaceAll(' ', '')}`),
      ),
      'content-type': good('application/grpc', 'application/grpc+proto', 'application/json'),
      te: fc.constant('trailers'),
      'grpc-timeout': good('1S', '99999999H', '-1S', '0n', '1'),
      'grpc-encoding': good('identity', 'gzip', 'deflate'),
      'grpc-accept-encoding': headerText,
      'user-agent': headerText,
      traceparent: good('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'),
      tracestate: headerText,
      baggage: headerText,
      'x-bytes-bin': good('AAEC', '====', 'not base64'),
      authorization: headerText,
    },
    { requiredKeys: [':method', ':path'] },
  )
}
