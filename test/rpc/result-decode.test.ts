import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeResult } from '../../server/rpc/result-codec.js'
import { decodeResult } from '../../server/rpc/result-decode.js'
import type { TaskResult } from '../../server/task/result.js'
import { aResult } from '../results/entries.js'
import { anyLabels } from '../task/any-labels.js'

const text = fc.string({ unit: 'grapheme' })
const count = fc.nat(2 ** 31 - 1)
const micros = fc.integer({ min: 0, max: 2 ** 52 })

const anyResult: fc.Arbitrary<TaskResult> = fc
  .record(
    {
      kind: fc.constantFrom('result' as const, 'attempt' as const),
      taskId: text,
      handler: text,
      run: fc.integer({ min: 1, max: 2 ** 40 }),
      attempts: count,
      interruptions: count,
      outcome: fc.constantFrom(
        'succeeded' as const,
        'failed' as const,
        'timedOut' as const,
        'cancelled' as const,
        'expired' as const,
        'skipped' as const,
      ),
      output: fc.oneof(
        fc.constant({ kind: 'none' as const }),
        fc.json().map((json) => ({ kind: 'json' as const, text: json })),
        fc.uint8Array().map((bytes) => ({ kind: 'bytes' as const, bytes })),
      ),
      error: fc.record({ code: text, message: text, stack: text, name: text, cause: text }),
      dueTime: fc.integer({ min: 0, max: 253_402_300_799_999 }),
      startTimeUs: micros,
      endTimeUs: micros,
      workerId: text,
      labels: anyLabels(text),
      traceId: text,
      origin: text,
      last: fc.boolean(),
      skipReason: fc.constantFrom(
        'overlap' as const,
        'missed' as const,
        'paused' as const,
        'dstGap' as const,
      ),
      skippedCount: fc.nat(2 ** 40),
      cancelStage: fc.constantFrom('neverStarted' as const, 'cooperative' as const, 'terminated' as const),
      manual: fc.boolean(),
    },
    {
      requiredKeys: [
        'kind',
        'taskId',
        'handler',
        'run',
        'attempts',
        'interruptions',
        'outcome',
        'output',
        'dueTime',
        'startTimeUs',
        'endTimeUs',
        'workerId',
        'labels',
        'traceId',
        'origin',
        'last',
        'skippedCount',
        'manual',
      ],
    },
  )
  // not in the bytes: when nothing else is known, a run could start when it was due
  .map((result) => Object.assign(result, { notBefore: result.dueTime }))

describe('a result read from its bytes', () => {
  it('is what was written, whatever is in it', () => {
    fc.assert(
      fc.property(anyResult, (result) => {
        expect(decodeResult(encodeResult(result))).toEqual(result)
      }),
    )
  })

  it.each([
    ['bytes that are no message', Uint8Array.of(255, 255, 255)],
    ['no bytes', new Uint8Array(0)],
    ['another text', Buffer.from('{"kind":"result"}')],
    [
      'an outcome that this version does not know',
      Buffer.concat([encodeResult(aResult()), Buffer.of(64, 77)]),
    ],
  ])('is none of %s', (_, bytes) => {
    expect(decodeResult(bytes)).toBeUndefined()
  })
})
