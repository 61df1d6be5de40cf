import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnySchema, createSchema } from './plain-schema.js'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { defineHandler, type Handler } from '../../server/handlers/index.js'
import { NO_PAYLOAD, type Payload } from '../../server/task/task-spec.js'

const json = (value: unknown): Payload => ({ kind: 'json', text: JSON.stringify(value) })

function catalogueOf(...handlers: readonly { readonly name: string }[]) {
  return createCatalogue(new Map(handlers.map((handler) => [handler.name, handler as Handler])))
}

const withInput = (input: AnySchema) => catalogueOf(defineHandler({ name: 'a', input, run: () => 1 }))

describe('the catalogue', () => {
  it('lists handlers by name, without their code', () => {
    const catalogue = catalogueOf(
      defineHandler({ name: 'b', description: 'second', lane: 'shared', maxConcurrent: 3, run() {} }),
      defineHandler({ name: 'a', memoryLimitMb: 64, run() {} }),
    )
    expect(catalogue.list()).toEqual([
      { name: 'a', description: '', lane: 'thread', maxConcurrent: 0, memoryLimitMb: 64 },
      { name: 'b', description: 'second', lane: 'shared', maxConcurrent: 3 },
    ])
    expect(catalogue.get('b')).toBe(catalogue.list()[1])
  })

  it.each([
    '../../../../tmp/evil',
    '/tmp/evil.js',
    'node:child_process',
    'constructor',
    '__proto__',
    'toString',
    'hasOwnProperty',
    '',
  ])('knows no handler but those that were loaded: %s (C149)', async (name) => {
    const catalogue = catalogueOf(defineHandler({ name: 'a', run() {} }))
    expect(catalogue.get(name)).toBe(undefined)
    expect(await catalogue.checkInput(name, NO_PAYLOAD)).toMatchObject([
      { field: 'task.handler', description: expect.stringContaining('this server has no handler') as string },
    ])
  })

  it('offers the name that was probably meant', async () => {
    const catalogue = catalogueOf(defineHandler({ name: 'fibonacci', run() {} }))
    expect(await catalogue.checkInput('fibonaci', NO_PAYLOAD)).toEqual([
      {
        field: 'task.handler',
        description: `this server has no handler "fibonaci"; did you mean 'fibonacci'?`,
      },
    ])
  })
})

describe('an input is checked', () => {
  it.each([
    ['zod', z.object({ n: z.number().max(3), tags: z.array(z.string()) })],
    ['valibot', v.object({ n: v.pipe(v.number(), v.maxValue(3)), tags: v.array(v.string()) })],
  ])('at once by a schema of %s that does not wait; all that is wrong, each with its path', (_, schema) => {
    const catalogue = withInput(schema)
    expect(catalogue.checkInput('a', json({ n: 1, tags: [] }))).toEqual([])
    const violations = catalogue.checkInput('a', json({ n: 4, tags: ['x', 1] }))
    expect(violations).toMatchObject([{ field: 'task.input.n' }, { field: 'task.input.tags[1]' }])
  })

  it('later by a schema that waits', async () => {
    const catalogue = withInput(z.string().refine(async (text) => text === 'good', 'is not good'))
    expect(await catalogue.checkInput('a', json('good'))).toEqual([])
    expect(await catalogue.checkInput('a', json('bad'))).toEqual([
      { field: 'task.input', description: 'is not good' },
    ])
  })

  it('as bytes when it is bytes, and as undefined when there is none', () => {
    expect(
      withInput(z.instanceof(Uint8Array)).checkInput('a', { kind: 'bytes', bytes: Uint8Array.of(1) }),
    ).toEqual([])
    expect(withInput(z.undefined()).checkInput('a', NO_PAYLOAD)).toEqual([])
    expect(withInput(z.number()).checkInput('a', NO_PAYLOAD)).toMatchObject([{ field: 'task.input' }])
  })

  it('by nobody when the handler has no schema', () => {
    expect(
      catalogueOf(defineHandler({ name: 'a', run() {} })).checkInput('a', json({ any: 'thing' })),
    ).toEqual([])
  })

  it('and is refused when its schema throws, or gives issues of every odd kind', async () => {
    const thrower = createSchema(() => {
      throw new Error('a slip')
    })
    expect(await withInput(thrower).checkInput('a', json(1))).toEqual([
      { field: 'task.input', description: 'its schema threw: a slip' },
    ])
    const odd = createSchema(() => ({
      issues: [{ message: 'm', path: [{ key: 'a b' }, 0, Symbol('s')] }, { message: 'n' }],
    }))
    expect(await withInput(odd).checkInput('a', json(1))).toEqual([
      { field: 'task.input["a b"][0]["Symbol(s)"]', description: 'm' },
      { field: 'task.input', description: 'n' },
    ])
    const none = createSchema(() => ({ issues: [] }))
    expect(await withInput(none).checkInput('a', json(1))).toHaveLength(1)
  })
})

describe('JSON Schema is shown', () => {
  it('where the library gives one: what callers send, and what they get back', () => {
    const handler = defineHandler({
      name: 'a',
      input: z.object({ n: z.number().default(1) }),
      output: z.object({ value: z.string() }),
      run: () => ({ value: 'x' }),
    })
    expect(catalogueOf(handler).get('a')).toMatchObject({
      inputSchema: { type: 'object', properties: { n: { type: 'number' } } },
      outputSchema: { type: 'object', required: ['value'] },
    })
    expect(catalogueOf(handler).get('a')?.inputSchema?.['required']).toBe(undefined)
  })

  it('where the schema has a method for it', () => {
    const schema = { ...createSchema(() => ({ value: 1 })), toJsonSchema: () => ({ type: 'number' }) }
    expect(withInput(schema).get('a')?.inputSchema).toEqual({ type: 'number' })
  })

  it('nowhere else: for a library without one, or what it cannot say', () => {
    expect(withInput(v.object({ n: v.number() })).get('a')).not.toHaveProperty('inputSchema')
    expect(withInput(z.date()).get('a')).not.toHaveProperty('inputSchema')
  })
})
