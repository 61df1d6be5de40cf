import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runAttempt } from '../../server/executor/run-attempt.js'
import { AttemptContext } from '../../server/handlers/handler-context.js'
import { defineHandler, type HandlerContext } from '../../server/handlers/index.js'
import { SILENT } from '../../server/task/log.js'
import { NO_PAYLOAD, type Payload } from '../../server/task/task-spec.js'

const context: HandlerContext = new AttemptContext(
  { taskId: 'a', run: 1, attempt: 1, dueTime: 0, labels: {} },
  { loggerFor: () => SILENT, sleep: () => Promise.resolve() },
)
const json = (value: unknown): Payload => ({ kind: 'json', text: JSON.stringify(value) })
type AnyHandler = Parameters<typeof runAttempt>[0]
const run = (handler: AnyHandler, payload: Payload = NO_PAYLOAD) =>
  runAttempt(handler, payload, context, 1_000)

describe('an attempt', () => {
  it('costs no promise when neither handler nor schemas wait', () => {
    const handler = defineHandler({ name: 'a', input: z.number(), output: z.number(), run: (n) => n + 1 })
    expect(run(handler, json(1))).toEqual({ kind: 'succeeded', output: json(2) })
  })

  it('waits for a schema that does', async () => {
    const even = z.number().refine(async (n) => n % 2 === 0, 'must be even')
    const handler = defineHandler({ name: 'a', input: even, output: even, run: (n) => n / 2 })
    expect(await run(handler, json(4))).toEqual({ kind: 'succeeded', output: json(2) })
    expect(await run(handler, json(3))).toMatchObject({ kind: 'failed', error: { code: 'INVALID_INPUT' } })
    expect(await run(handler, json(2))).toMatchObject({
      kind: 'failed',
      error: { code: 'OUTPUT_NOT_STORABLE', message: expect.stringContaining('must be even') as string },
    })
  })

  it('gives the handler what its schema made of the input, and stores what its schema made of the output', () => {
    const handler = defineHandler({
      name: 'a',
      input: z.object({ day: z.iso.date().transform((text) => new Date(text)) }),
      output: z.date().transform((date) => date.toISOString()),
      run: ({ day }) => day,
    })
    expect(run(handler, json({ day: '2026-01-02' }))).toEqual({
      kind: 'succeeded',
      output: json('2026-01-02T00:00:00.000Z'),
    })
  })

  it('never calls the handler with an input that its schema refuses, and says all that is wrong with it', () => {
    let called = false
    const handler = defineHandler({
      name: 'a',
      input: z.object({ n: z.number(), list: z.array(z.string()) }),
      run: () => (called = true),
    })
    const outcome = run(handler, json({ list: ['a', 2] }))
    expect(outcome).toMatchObject({ kind: 'failed', retryable: false, error: { code: 'INVALID_INPUT' } })
    expect((outcome as { error: { message: string } }).error.message).toMatch(
      /input\.n: .*; input\.list\[1\]: /,
    )
    expect(called).toBe(false)
  })

  it('fails when a schema itself throws, or when what was stored is not JSON', async () => {
    const broken = defineHandler({
      name: 'a',
      input: z.unknown().transform(() => {
        throw new Error('a slip of its author')
      }),
      run: () => 1,
    })
    expect(await run(broken)).toMatchObject({
      error: { message: expect.stringContaining('its schema threw: a slip of its author') as string },
    })
    expect(await run(broken, { kind: 'json', text: '{' })).toMatchObject({ error: { code: 'INVALID_INPUT' } })
  })

  it('takes anything that can be awaited for a promise', async () => {
    const handler = defineHandler({
      name: 'a',
      // oxlint-disable-next-line unicorn/no-thenable -- some libraries return such
      run: () => ({ then: (resolve: (value: number) => void) => resolve(7) }),
    })
    expect(await run(handler)).toEqual({ kind: 'succeeded', output: json(7) })
  })

  it('fails with what is thrown, at once or later', async () => {
    const now = defineHandler({
      name: 'a',
      run() {
        throw new Error('now')
      },
    })
    const later = defineHandler({ name: 'b', run: () => Promise.reject(new Error('later')) })
    expect(run(now)).toMatchObject({ kind: 'failed', error: { message: 'now' } })
    expect(await run(later)).toMatchObject({ kind: 'failed', error: { message: 'later' } })
  })
})
