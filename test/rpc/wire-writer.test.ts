import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Timestamp } from '../../proto/generated/google/protobuf/timestamp.js'
import { WireWriter } from '../../server/rpc/wire-writer.js'

const text = fc.oneof(
  fc.string({ maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({ unit: 'binary', minLength: 100, maxLength: 300 }),
)

describe('what is written to the wire', () => {
  it('is, of texts, bytes and messages within messages, what the library writes', () => {
    const message = fc.array(fc.oneof(text, fc.uint8Array({ maxLength: 200 }), fc.boolean()), {
      maxLength: 20,
    })
    const own = new WireWriter()
    fc.assert(
      fc.property(message, message, (outer, inner) => {
        const library = new BinaryWriter()
        for (const part of [...outer, inner]) {
          if (Array.isArray(part)) {
            own.int(10).fork()
            library.uint32(10).fork()
            for (const member of part) write(member, own, library)
            own.join()
            library.join()
          } else write(part, own, library)
        }
        expect(own.take()).toEqual(Buffer.from(library.finish()))
      }),
    )
  })

  it('is a number as int64 reads it, also one below zero', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (number) => {
        const reader = new BinaryReader(new WireWriter().int(number).take())
        expect(Number(reader.int64())).toBe(number)
        expect(reader.pos).toBe(reader.len)
      }),
    )
  })

  it('is a point in time to the microsecond', () => {
    fc.assert(
      fc.property(fc.integer({ min: -(2 ** 50), max: 2 ** 52 }), (micros) => {
        const bytes = new WireWriter().timestamp(micros).take()
        const { seconds, nanos } = Timestamp.decode(bytes.subarray(1))
        expect(Number(seconds) * 1_000_000 + nanos / 1_000).toBe(micros)
        expect(nanos).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('is a point in time to the millisecond, to the end of the year 9999', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 253_402_300_799_999 }), (ms) => {
        const bytes = new WireWriter().instant(ms).take()
        const { seconds, nanos } = Timestamp.decode(bytes.subarray(1))
        expect(Number(seconds) * 1_000 + nanos / 1_000_000).toBe(ms)
      }),
    )
  })

  it('is nothing of what was begun before an error', () => {
    const writer = new WireWriter()
    writer.int(10).fork().text('half')
    writer.clear()
    expect(writer.int(1).take()).toEqual(Buffer.of(1))
    expect(() => writer.join()).toThrow(/no message/)
    expect(() => writer.int(0.5)).toThrow(RangeError)
    expect(() => writer.int(Number.NaN)).toThrow(RangeError)
  })

  it('is whole, however large', () => {
    const large = new Uint8Array(5_000_000).fill(7)
    const writer = new WireWriter()
    const taken = writer.int(10).bytes(large).take()
    expect(taken.byteLength).toBe(1 + 4 + large.byteLength)
    expect(writer.int(1).take()).toEqual(Buffer.of(1))
    expect(taken[taken.length - 1]).toBe(7)
  })
})

function write(part: string | Uint8Array | boolean, own: WireWriter, library: BinaryWriter): void {
  if (typeof part === 'string') {
    own.int(18).text(part)
    library.uint32(18).string(part)
  } else if (typeof part === 'boolean') {
    own.int(24).bool(part)
    library.uint32(24).bool(part)
  } else {
    own.int(34).bytes(part)
    library.uint32(34).bytes(part)
  }
}
