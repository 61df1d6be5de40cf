import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const OUTSIDE = 'test/outside/**'
const LONG = 'test/**/*.long.test.ts'
/** Of those from outside, the ones that take a whole core or two; the others mostly wait for processes. */
const LOAD = [
  'many-tasks',
  'readers',
  'server-load',
  'server-order',
  'slow-reader',
  'store-thread',
  'thread-load',
].map((name) => `test/outside/${name}.test.ts`)
const OUTSIDE_TIMES = { testTimeout: 120_000, hookTimeout: 120_000 }
const sourceOf = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  // Node 20 has no `using`; everything newer is compiled down as in the build
  oxc: { target: 'node20' },
  test: {
    pool: 'forks',
    coverage: { provider: 'v8', include: ['server/**', 'client/**', 'cli/**', 'testing/**'] },
    projects: [
      {
        // specification: virtual clock, no process, no real time
        extends: true,
        // examples name the package as its users do; a specification reads the sources, not the last build
        resolve: {
          alias: [
            { find: /^punctual$/, replacement: sourceOf('client/index.ts') },
            { find: /^punctual\/handlers$/, replacement: sourceOf('server/handlers/index.ts') },
            { find: /^punctual\/testing$/, replacement: sourceOf('testing/index.ts') },
          ],
        },
        test: {
          name: 'unit',
          include: ['test/**/*.test.ts'],
          exclude: [OUTSIDE, LONG],
          testTimeout: 20_000,
          maxWorkers: 2,
        },
      },
      {
        // the built package from outside: real processes, real time, wide bounds
        extends: true,
        test: {
          name: 'outside',
          include: [`${OUTSIDE}/*.test.ts`],
          exclude: [LONG, ...LOAD],
          ...OUTSIDE_TIMES,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
      {
        // the same under load: one after another
        extends: true,
        test: {
          name: 'load',
          include: LOAD,
          ...OUTSIDE_TIMES,
          fileParallelism: false,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
