import { BinaryWriter } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  CancelStage,
  Outcome,
  OutputFormat,
  ResultKind,
  TaskResult as WireResult,
} from '../../proto/generated/punctual/v1/result.js'
import { StreamResultsResponse } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { encodeResult } from '../../server/rpc/result-codec.js'
import { sendableResult } from '../../server/rpc/sendable-result.js'
import { streamMessage } from '../../server/rpc/stream-messages.js'
import type { LogEntry } from '../../server/store/task-store.js'
import { aResult, anEntry } from '../results/entries.js'

const ERROR = { code: 'GONE', message: 'é', stack: 'at x', name: 'TaskError', cause: 'why' }

describe('a result in the log', () => {
  it('is what generated code reads, without what only the commit gives', () => {
    const result = aResult({
      kind: 'attempt',
      outcome: 'failed',
      error: ERROR,
      labels: { a: '1', b: '' },
      traceId: 'ab'.repeat(16),
      origin: 'client-1',
      interruptions: 2,
      attempts: 3,
      cancelStage: 'terminated',
      manual: true,
      skippedCount: 5_000_000_000,
    })
    expect(WireResult.decode(encodeResult(result))).toEqual(
      WireResult.fromPartial({
        kind: ResultKind.ATTEMPT,
        taskId: 'task-1',
        handler: 'echo',
        run: 1n,
        attempts: 3,
        interruptedAttempts: 2,
        outcome: Outcome.FAILED,
        error: ERROR,
        dueTime: { seconds: 1_800_000_000n, nanos: 1_000_000 },
        startTime: { seconds: 1_800_000_000n, nanos: 1_250_000 },
        endTime: { seconds: 1_800_000_001n, nanos: 0 },
        workerId: 'thread-1',
        labels: { a: '1', b: '' },
        traceId: 'ab'.repeat(16),
        origin: 'client-1',
        last: true,
        skippedCount: 5_000_000_000n,
        cancelStage: CancelStage.TERMINATED,
        manual: true,
      }),
    )
  })

  it('is the same, byte for byte, as generated code would write it', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        fc.nat(),
        fc.integer({ min: 0, max: 2 ** 40 }),
        (text, run, ms) => {
          const bytes = encodeResult(
            aResult({ taskId: text, run, dueTime: ms, output: { kind: 'json', text: JSON.stringify(text) } }),
          )
          const again = WireResult.encode(WireResult.decode(bytes)).finish()
          expect(Buffer.from(bytes).equals(Buffer.from(again))).toBe(true)
        },
      ),
    )
  })

  it('after one that cannot be encoded is whole', () => {
    expect(() => encodeResult(aResult({ run: Number.NaN }))).toThrow(RangeError)
    expect(WireResult.decode(encodeResult(aResult())).taskId).toBe('task-1')
  })
})

describe('a result that is sent', () => {
  const json = anEntry(
    { output: { kind: 'json', text: '{"a":[1,null,{"b":""}]}' } },
    { position: 2 ** 40, commitTime: 1_800_000_002_003 },
  )

  it('has its place in the log and its commit time', () => {
    expect(sendableResult(json, OutputFormat.JSON)).toMatchObject({
      sequence: 2n ** 40n,
      commitTime: { seconds: 1_800_000_002n, nanos: 3_000_000 },
      payload: { $case: 'outputJson', value: '{"a":[1,null,{"b":""}]}' },
    })
  })

  it('has its output as a Value for those who want one', () => {
    const { payload, ...rest } = sendableResult(json, OutputFormat.UNSPECIFIED)
    expect(payload).toEqual({ $case: 'output', value: { a: [1, null, { b: '' }] } })
    const { payload: _, ...same } = sendableResult(json, OutputFormat.JSON)
    expect(rest).toEqual(same)
  })

  it.each([OutputFormat.VALUE, OutputFormat.JSON])(
    'has bytes as bytes, and none as none, whatever the format (%i)',
    (format) => {
      const bytes = anEntry({ output: { kind: 'bytes', bytes: Uint8Array.of(0, 255) } })
      expect(sendableResult(bytes, format).payload).toEqual({
        $case: 'outputBytes',
        value: Buffer.of(0, 255),
      })
      expect(sendableResult(anEntry({ output: { kind: 'none' } }), format).payload).toBeUndefined()
    },
  )

  it('has an output that would be a huge Value as text: no client could receive it', () => {
    const text = JSON.stringify(Array.from({ length: 400_000 }, () => 0))
    const entry = anEntry({ output: { kind: 'json', text } })
    expect(sendableResult(entry, OutputFormat.VALUE).payload).toEqual({ $case: 'outputJson', value: text })
  })
})

describe('a message of the stream', () => {
  const state = { cursor: 'c', caughtUp: true, logId: 'l' }
  const entries: LogEntry[] = [
    anEntry({ taskId: 'a' }, { position: 7 }),
    anEntry({ taskId: 'b' }, { position: 9 }),
  ]

  it('is what generated code reads', () => {
    for (const format of [OutputFormat.VALUE, OutputFormat.JSON]) {
      expect(StreamResultsResponse.decode(streamMessage(entries, state, format))).toEqual({
        results: entries.map((entry) => sendableResult(entry, format)),
        ...state,
      })
    }
  })

  it('is a heartbeat when it holds no result', () => {
    const message = StreamResultsResponse.decode(
      streamMessage([], { ...state, caughtUp: false }, OutputFormat.JSON),
    )
    expect(message).toEqual({ results: [], cursor: 'c', caughtUp: false, logId: 'l' })
  })

  it('after one that cannot be made is whole', () => {
    const broken = {
      ...anEntry(),
      bytes: new BinaryWriter().uint32(82).bytes(Buffer.from('not JSON')).finish(),
    }
    expect(() => streamMessage([broken], state, OutputFormat.VALUE)).toThrow(/JSON/)
    const message = StreamResultsResponse.decode(streamMessage([], state, OutputFormat.VALUE))
    expect(message.results).toEqual([])
  })
})
