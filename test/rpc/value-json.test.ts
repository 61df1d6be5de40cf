import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Value } from '../../proto/generated/google/protobuf/struct.js'
import type { ScheduleCall } from '../../server/admission/schedule-call.js'
import { fieldsOf, readRawTask, readTask } from './requests.js'

describe('the input as a Value', () => {
  const valueOf = (value: unknown): ScheduleCall => readTask({ payload: { $case: 'input', value } })

  it.each([
    [null],
    [{ a: null, b: [1, null], c: { d: null }, e: 0, f: '', g: false }],
    [['é', '\u0000', '😀', '"\\', -0.5, 1e21, 2 ** 60]],
    [{}],
    [[]],
  ])('is kept as JSON of the same meaning: %j', (value) => {
    const { spec, violations, payloadField } = valueOf(value)
    expect(violations).toEqual([])
    expect(payloadField).toBe('task.input')
    expect(spec.payload.kind === 'json' && JSON.parse(spec.payload.text)).toEqual(value)
  })

  it('is kept for any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 10 }), (json) => {
        fc.pre(!JSON.stringify(json).includes('__proto__'))
        const { payload } = valueOf(json).spec
        expect(payload).toEqual({ kind: 'json', text: JSON.stringify(json) })
      }),
    )
  })

  it.each([
    ['NaN', { a: [Number.NaN] }, 'task.input.a[0]'],
    ['infinity', { 'b c': Number.NEGATIVE_INFINITY }, 'task.input["b c"]'],
    ['an empty Value', [undefined], 'task.input[0]'],
  ])('is refused with the path of %s', (_, value, field) => {
    expect(fieldsOf(valueOf(value))).toEqual([field])
  })

  it('is refused with the path of a key __proto__, which generated code would drop', () => {
    const entry = new BinaryWriter().uint32(10).string('__proto__').uint32(18).fork()
    Value.encode(Value.wrap(1), entry)
    const struct = new BinaryWriter()
      .uint32(42)
      .fork()
      .uint32(10)
      .bytes(entry.join().finish())
      .join()
      .finish()
    expect(fieldsOf(readRawTask((writer) => writer.uint32(26).bytes(struct)))).toEqual([
      'task.input.__proto__',
    ])
  })

  it('may be nested 30 levels deep; 20,000 are refused, and nothing breaks (C132)', () => {
    expect(valueOf(nestedList(30)).violations).toEqual([])
    expect(valueOf(nestedList(31)).violations).toEqual([
      { field: `task.input${'[0]'.repeat(30)}`, description: 'is nested deeper than 30 levels' },
    ])
    expect(readRawTask((writer) => writer.uint32(26).bytes(deepValue(20_000))).violations).toHaveLength(1)
  })
})

function nestedList(levels: number): unknown {
  return levels === 0 ? 1 : [nestedList(levels - 1)]
}

/** Put together from the inside, for no recursive encoder goes so deep. */
function deepValue(levels: number): Uint8Array {
  const parts = [new BinaryWriter().uint32(32).bool(true).finish()]
  let length = 2
  for (let level = 0; level < levels; level++) {
    for (const tag of [10, 50]) {
      const head = new BinaryWriter().uint32(tag).uint32(length).finish()
      parts.push(head)
      length += head.length
    }
  }
  return Buffer.concat(parts.toReversed())
}
