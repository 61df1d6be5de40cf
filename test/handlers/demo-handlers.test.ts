import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'

const demo = await loadHandlers([new URL('../../server/handlers/demo-handlers.ts', import.meta.url)])

const run = (name: string, input: unknown) => demo.get(name)?.run(input, undefined as never)

describe('a server without handlers of its own', () => {
  it('computes Fibonacci numbers, gives back what it gets, and sleeps', () => {
    expect([...demo.keys()]).toEqual(['fibonacci', 'echo', 'sleep'])
    expect([0, 1, 2, 4, 10, 20].map((n) => run('fibonacci', { n }))).toEqual(
      [0, 1, 1, 3, 55, 6_765].map((value) => ({ value })),
    )
    expect(run('echo', { any: ['thing'] })).toEqual({ any: ['thing'] })
  })

  it('refuses what would keep a thread for minutes', () => {
    const catalogue = createCatalogue(demo)
    const check = (name: string, input: unknown) =>
      catalogue.checkInput(name, { kind: 'json', text: JSON.stringify(input) })
    expect(check('fibonacci', { n: 40 })).toEqual([])
    for (const n of [41, -1, 1.5, '3'])
      expect(check('fibonacci', { n })).toMatchObject([{ field: 'task.input.n' }])
    expect(check('sleep', { ms: 86_400_001 })).toMatchObject([{ field: 'task.input.ms' }])
  })

  it('shows the schema of each input that has one', () => {
    const catalogue = createCatalogue(demo)
    expect(catalogue.list().map(({ name, inputSchema }) => [name, inputSchema !== undefined])).toEqual([
      ['echo', false],
      ['fibonacci', true],
      ['sleep', true],
    ])
  })
})
