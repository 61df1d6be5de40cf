import { defineHandler } from 'punctual/handlers'

/** Results of every outcome that readers filter by, and of every size. */
export const handlers = [
  defineHandler({
    name: 'work',
    run({ failures, bytes }, { attempt }) {
      if (attempt <= failures) throw new Error(`attempt ${attempt} fails on purpose`)
      return 'x'.repeat(bytes)
    },
  }),
  defineHandler({
    name: 'pause',
    lane: 'shared',
    async run({ ms }, context) {
      await context.sleep(ms)
    },
  }),
]
