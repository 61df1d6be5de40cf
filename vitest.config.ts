import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'

const OUTSIDE = 'test/outside/**'
const LONG = 'test/**/*.long.test.ts'
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
        test: { name: 'unit', include: ['test/**/*.test.ts'], exclude: [OUTSIDE, LONG], testTimeout: 20_000 },
      },
      {
        // the built package from outside: real processes, real time, wide bounds
        extends: true,
        test: {
          name: 'outside',
          include: [`${OUTSIDE}/*.test.ts`],
          exclude: [LONG],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          fileParallelism: false,
        },
      },
    ],
  },
})
