import { defineHandler, TaskError } from 'punctual/handlers'
import { z } from 'zod'

/** The largest whose value a JSON number holds exactly. */
const MAX_N = 78

/** The smallest useful handler: input checked, output typed, one error of its own. */
export const fibonacci = defineHandler({
  name: 'fibonacci',
  description: `The n-th Fibonacci number, up to n = ${MAX_N}.`,
  input: z.object({ n: z.int().min(0) }),
  output: z.object({ value: z.int() }),
  run({ n }) {
    if (n > MAX_N)
      throw new TaskError(`beyond n = ${MAX_N} no JSON number is exact`, {
        code: 'TOO_LARGE',
        retryable: false,
      })
    let [value, next] = [0, 1]
    for (let i = 0; i < n; i++) [value, next] = [next, value + next]
    return { value }
  },
})
