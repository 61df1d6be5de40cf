import { defineHandler } from './define-handler.js'
import { fibonacci, fibonacciInput } from './demo-handlers.js'
import { TaskError } from './task-error.js'

/** The demo shows a failure too: this `fibonacci` fails for n = 4. */
export const handlers = [
  defineHandler({
    name: 'fibonacci',
    description: 'The n-th Fibonacci number; fails for n = 4, on purpose.',
    input: fibonacciInput,
    run({ n }) {
      if (n === 4) throw new TaskError('n = 4 fails on purpose', { code: 'FOUR', retryable: false })
      return { value: fibonacci(n) }
    },
  }),
] as const
