import { describe, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  createClient,
  type ResultStream,
  type SchedulerClient,
  type Succeeded,
  type TaskHandle,
  type TaskResult,
} from '../../client/index.js'
import { defineHandler } from '../../server/handlers/index.js'

const handlers = [
  defineHandler({
    name: 'resize',
    input: z.object({ width: z.number(), fit: z.enum(['cover', 'contain']).default('cover') }),
    output: z.object({ bytes: z.number() }),
    run: () => ({ bytes: 1 }),
  }),
  defineHandler({ name: 'ping', input: z.undefined(), run: () => 'pong' }),
  defineHandler({ name: 'echo', run: (input) => input }),
]

type Client = SchedulerClient<typeof handlers>

describe('a client of typed handlers', () => {
  it('takes only their names', () => {
    const calls = (client: Client) => [
      client.schedule('resize', { width: 1 }),
      // @ts-expect-error no such handler
      client.schedule('risize', { width: 1 }),
    ]
    expectTypeOf(calls).toBeFunction()
  })

  it('takes only the input of the handler, as its schema takes it', () => {
    const calls = (client: Client) => [
      client.schedule('resize', { width: 1, fit: 'contain' }),
      // a default may be left out
      client.schedule('resize', { width: 1 }, { delayMs: 5 }),
      // @ts-expect-error width is a number
      client.schedule('resize', { width: '1' }),
      // @ts-expect-error the input is required
      client.schedule('resize'),
      client.schedule('ping'),
      client.schedule('ping', undefined, { priority: 1 }),
      // @ts-expect-error ping takes nothing
      client.schedule('ping', 1),
      // no schema: anything
      client.schedule('echo', { any: ['thing'] }),
      client.schedule('echo'),
    ]
    expectTypeOf(calls).toBeFunction()
  })

  it('gives the output of the handler', () => {
    const resize = (client: Client) => client.schedule('resize', { width: 1 })
    expectTypeOf(resize).returns.resolves.toEqualTypeOf<TaskHandle<'resize', { bytes: number }>>()
    const result = (task: TaskHandle<'resize', { bytes: number }>) => task.result()
    expectTypeOf(result).returns.resolves.toEqualTypeOf<Succeeded<'resize', { bytes: number }>>()
    const ping = (client: Client) => client.schedule('ping')
    expectTypeOf(ping).returns.resolves.toEqualTypeOf<TaskHandle<'ping', string>>()
  })

  it('checks each task of many by its own handler', () => {
    const many = (client: Client) =>
      client.scheduleMany([
        { handler: 'resize', input: { width: 1 }, id: 'a' },
        { handler: 'ping' },
        { handler: 'echo', input: [1] },
        // @ts-expect-error the input of another handler
        { handler: 'resize', input: [1] },
      ])
    expectTypeOf(many).toBeFunction()
  })

  it('tells results apart by handler and outcome', () => {
    const read = (client: Client) => client.results()
    expectTypeOf(read).returns.toEqualTypeOf<
      ResultStream<TaskResult<'resize', { bytes: number }> | TaskResult<'ping', string> | TaskResult<'echo'>>
    >()
    const output = async (client: Client): Promise<number> => {
      for await (const result of client.results()) {
        if (result.handler === 'resize' && result.outcome === 'succeeded') return result.output.bytes
        // @ts-expect-error not every result has an output
        void result.output
      }
      return 0
    }
    expectTypeOf(output).toBeFunction()
  })

  it('narrows results to the handlers of the filter', () => {
    const read = (client: Client) => client.results({ filter: { handlers: ['ping'] } })
    expectTypeOf(read).returns.toEqualTypeOf<ResultStream<TaskResult<'ping', string>>>()
    const wrong = (client: Client) =>
      // @ts-expect-error no such handler
      client.results({ filter: { handlers: ['pong'] } })
    expectTypeOf(wrong).toBeFunction()
  })

  it('understands a record of handlers and one made without a type', () => {
    const byKey = { first: defineHandler({ name: 'sum', run: (input) => Number(input) }) }
    const sum = (client: SchedulerClient<typeof byKey>) => client.schedule('sum', 1)
    expectTypeOf(sum).returns.resolves.toEqualTypeOf<TaskHandle<'sum', number>>()
    const untyped = () => createClient({ address: 'localhost:1' }).schedule('anything', { at: 'all' })
    expectTypeOf(untyped).returns.resolves.toEqualTypeOf<TaskHandle<'anything'>>()
  })

  it('refuses options that exclude each other where the compiler can tell', () => {
    const calls = (client: Client) => [
      client.preview({ cron: '* * * * *', timeZone: 'Europe/Berlin' }),
      // @ts-expect-error a rule is needed
      client.preview({ maxRuns: 3 }),
    ]
    expectTypeOf(calls).toBeFunction()
  })
})
