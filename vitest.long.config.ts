import { defineConfig } from 'vitest/config'

/** What takes minutes: `npm run test:long`. The same rules in brief are part of `npm test`. */
export default defineConfig({
  oxc: { target: 'node20' },
  test: {
    pool: 'forks',
    include: ['test/**/*.long.test.ts'],
    testTimeout: 30 * 60_000,
    fileParallelism: false,
  },
})
