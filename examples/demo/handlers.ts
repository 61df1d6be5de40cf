import { setTimeout as rest } from 'node:timers/promises'
import { trace } from '@opentelemetry/api'
import { defineHandler, TaskError } from 'punctual/handlers'
import { z } from 'zod'

/** So that a person can see a task run. */
const LONGEST_REST_MS = 300

/** The handler of the article's program: some work that takes a while, and that fails for n = 4. */
export const handlers = [
  defineHandler({
    name: 'fibonacci',
    description: 'The n-th Fibonacci number, after a rest; fails for n = 4 on purpose.',
    input: z.object({ n: z.int().min(0).max(30) }),
    async run({ n }, context) {
      await rest(Math.random() * LONGEST_REST_MS, undefined, { signal: context.signal })
      // a span of the handler's own: it joins the trace of the task, from inside the thread
      return trace.getTracer('demo').startActiveSpan('compute', (span) => {
        try {
          if (n === 4) throw new TaskError('n = 4 fails on purpose', { code: 'FOUR', retryable: false })
          return { value: fibonacci(n) }
        } finally {
          span.end()
        }
      })
    },
  }),
] as const

function fibonacci(n: number): number {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2)
}
