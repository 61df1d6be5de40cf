import { defineHandler } from 'punctual/handlers'
import { z } from 'zod'

/** The article's job: it does nothing but take its time, and stops when it is told to. */
export const handlers = [
  defineHandler({
    name: 'job',
    description: 'Takes so many seconds.',
    input: z.object({ seconds: z.number().positive() }),
    async run({ seconds }, context) {
      await context.sleep(seconds * 1_000)
    },
  }),
] as const
