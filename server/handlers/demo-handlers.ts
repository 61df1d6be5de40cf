import { z } from 'zod'
import { defineHandler } from './define-handler.js'

/** Beyond it one task would keep a thread for more than a few seconds. */
const MAX_N = 40
const DAY_MS = 86_400_000

/** Computed the slow way on purpose: honest work for a thread. */
export function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}

/** What `fibonacci` takes. */
export const fibonacciInput = z.object({ n: z.int().min(0).max(MAX_N) })

/** What a server serves when it is given no handlers module. */
export const handlers = [
  defineHandler({
    name: 'fibonacci',
    description: `The n-th Fibonacci number, computed recursively: {"n": 30} gives {"value": 832040}. n from 0 to ${MAX_N}.`,
    input: fibonacciInput,
    output: z.object({ value: z.int() }),
    run: ({ n }) => ({ value: fibonacci(n) }),
  }),
  defineHandler({
    name: 'echo',
    description: 'Gives its input back.',
    run: (input) => input,
  }),
  defineHandler({
    name: 'sleep',
    description: 'Waits for {"ms": ...} milliseconds, at most a day, and stops at once when it is cancelled.',
    input: z.object({ ms: z.int().min(0).max(DAY_MS) }),
    lane: 'shared',
    async run({ ms }, context) {
      await context.sleep(ms)
    },
  }),
] as const
