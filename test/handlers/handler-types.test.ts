import * as v from 'valibot'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { z } from 'zod'
import {
  defineHandler,
  type HandlerContext,
  type HandlerInput,
  type HandlerName,
  type HandlerOutput,
} from '../../server/handlers/index.js'

const resize = defineHandler({
  name: 'resize',
  input: z.object({ url: z.string(), width: z.number().default(100) }),
  run({ url, width }, context) {
    expectTypeOf(url).toEqualTypeOf<string>()
    expectTypeOf(width).toEqualTypeOf<number>()
    expectTypeOf(context).toEqualTypeOf<HandlerContext>()
    return { pixels: width * width }
  },
})
const greet = defineHandler({
  name: 'greet',
  input: v.object({ who: v.string() }),
  output: v.object({ text: v.string(), length: v.optional(v.number(), 0) }),
  run: async ({ who }) => ({ text: `hello ${who}` }),
})
const ping = defineHandler({ name: 'ping', run() {} })
const handlers = [resize, greet, ping] as const
type Handlers = typeof handlers

describe('the types of handlers', () => {
  it('give a client the names of a list, written as const or not, and of a record', () => {
    const list = [resize, greet]
    const record = { resize, hello: greet }
    expectTypeOf<HandlerName<Handlers>>().toEqualTypeOf<'resize' | 'greet' | 'ping'>()
    expectTypeOf<HandlerName<typeof list>>().toEqualTypeOf<'resize' | 'greet'>()
    expectTypeOf<HandlerName<typeof record>>().toEqualTypeOf<'resize' | 'greet'>()
  })

  it('give a client what the schema takes, not what it makes of it', () => {
    expectTypeOf<HandlerInput<Handlers, 'resize'>>().toEqualTypeOf<{
      url: string
      width?: number | undefined
    }>()
    expectTypeOf<HandlerInput<Handlers, 'greet'>>().toEqualTypeOf<{ who: string }>()
    expectTypeOf<HandlerInput<Handlers, 'ping'>>().toEqualTypeOf<unknown>()
  })

  it('give a client what run returns, or what the output schema makes of it', () => {
    expectTypeOf<HandlerOutput<Handlers, 'resize'>>().toEqualTypeOf<{ pixels: number }>()
    expectTypeOf<HandlerOutput<Handlers, 'greet'>>().toEqualTypeOf<{ text: string; length: number }>()
    expectTypeOf<HandlerOutput<Handlers, 'ping'>>().toEqualTypeOf<void>()
  })

  it('refuse a name that no handler has, and an input that does not fit', () => {
    // @ts-expect-error there is no such handler
    const name: HandlerName<Handlers> = 'resise'
    // @ts-expect-error width is a number
    const input: HandlerInput<Handlers, 'resize'> = { url: 'a', width: 'wide' }
    expect([name, input]).toHaveLength(2)
  })

  it('refuse a run that does not fit the schemas', () => {
    const wrong = [
      defineHandler({
        name: 'a',
        input: z.object({ n: z.number() }),
        // @ts-expect-error the input has no m
        run: ({ m }) => String(m),
      }),
      defineHandler({
        name: 'b',
        output: z.object({ n: z.number() }),
        // @ts-expect-error n must be a number
        run: () => ({ n: 'one' }),
      }),
      defineHandler({
        name: 'c',
        output: z.object({ n: z.number() }),
        // @ts-expect-error n must be a number
        run: async () => ({ n: 'one' }),
      }),
    ]
    expect(wrong).toHaveLength(3)
  })

  it('refuse lanes and options that do not exist, as does the code for those who write JavaScript', () => {
    expect(() =>
      defineHandler({
        name: 'a',
        // @ts-expect-error there is no such lane
        lane: 'slow',
        run() {},
      }),
    ).toThrow("handler 'a': lane must be 'thread' or 'shared', got \"slow\"")
    expect(() =>
      defineHandler({
        name: 'a',
        // @ts-expect-error there is no such option
        timeout: 5,
        run() {},
      }),
    ).toThrow("handler 'a': there is no option 'timeout'; there are name, description,")
  })
})
