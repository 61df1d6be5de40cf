import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'

/** Numbers at which the reading of lengths and varints goes wrong. */
const EDGES = [0, 1, 127, 128, 255, 16_383, 16_384, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1]

/** Bytes in the shape of protobuf, whatever message they may be of. */
const anyFields: fc.Arbitrary<Uint8Array> = fc.letrec<{ message: Uint8Array }>((tie) => ({
  message: fc
    .array(
      fc.tuple(
        fc.integer({ min: 0, max: 24 }),
        fc.integer({ min: 0, max: 7 }),
        fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          fc.uint8Array({ maxLength: 12 }),
          tie('message'),
        ),
        fc.constantFrom(...EDGES),
      ),
      { maxLength: 6 },
    )
    .map((fields) => {
      const writer = new BinaryWriter()
      for (const [number, type, bytes, edge] of fields) {
        writer.uint32(((number << 3) | type) >>> 0)
        if (type === 2) writer.bytes(bytes)
        else if (type === 0) writer.uint32(edge)
        else writer.raw(bytes)
      }
      return writer.finish()
    }),
})).message

/** Messages as they come from a hostile or broken caller: good ones with bytes changed, cut, doubled or mixed, and noise. */
export function anyBytes(good: readonly Uint8Array[]): fc.Arbitrary<Buffer> {
  const example = fc.constantFrom(...good)
  const changed = fc
    .tuple(example, fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 }))
    .map(([bytes, changes]) => {
      const copy = Uint8Array.from(bytes)
      for (const [at, value] of changes) if (copy.length > 0) copy[at % copy.length] = value
      return copy
    })
  const spliced = fc
    .tuple(example, fc.oneof(example, anyFields), fc.nat(), fc.nat())
    .map(([one, other, a, b]) => {
      const at = a % (one.length + 1)
      const from = b % (other.length + 1)
      return Buffer.concat([one.slice(0, at), other.slice(from), ...(a % 2 === 0 ? [one.slice(at)] : [])])
    })
  return fc
    .oneof(
      { weight: 4, arbitrary: changed },
      { weight: 3, arbitrary: spliced },
      { weight: 2, arbitrary: anyFields },
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }) },
      { weight: 1, arbitrary: example },
    )
    .map((bytes) => Buffer.from(bytes))
}
