// The handlers of the chaos run. Each writes into a journal what it does, so that anybody can see afterwards what ran when and beside what.
import { appendFileSync } from 'node:fs'
import { defineHandler } from 'punctual/handlers'

const journal = process.env.CHAOS_JOURNAL ?? ''
const TICK_MS = 10

/** S: began, T: still runs, E: ended by itself. One write of few bytes, so that lines of several threads do not mix. */
function note(mark, { taskId, run, attempt }) {
  appendFileSync(journal, `${Date.now()} ${mark} ${process.pid} ${taskId} ${run} ${attempt}\n`)
}

function spin(ms) {
  const until = performance.now() + ms
  while (performance.now() < until);
}

function journaled(definition) {
  return defineHandler({
    ...definition,
    async run(input, context) {
      note('S', context)
      try {
        return await definition.run(input ?? {}, context)
      } finally {
        note('E', context)
      }
    },
  })
}

function failure(code) {
  return Object.assign(new Error('as it was asked to'), { code })
}

export const handlers = [
  journaled({
    name: 'work',
    async run({ ms }, context) {
      await context.sleep(ms)
      return { key: context.idempotencyKey }
    },
  }),
  journaled({ name: 'spin', run: ({ ms }) => spin(ms) }),
  journaled({ name: 'limited', maxConcurrent: 2, run: ({ ms }, context) => context.sleep(ms) }),
  journaled({ name: 'shared', lane: 'shared', run: ({ ms }, context) => context.sleep(ms) }),
  journaled({
    name: 'flaky',
    run({ failures }, { attempt }) {
      if (attempt <= failures) throw failure('FLAKY')
    },
  }),
  journaled({
    name: 'hopeless',
    run() {
      throw failure('HOPELESS')
    },
  }),
  // never lets anybody in
  journaled({
    name: 'loop',
    run(_, context) {
      for (;;) {
        spin(TICK_MS)
        note('T', context)
      }
    },
  }),
  // waits, and never listens
  journaled({
    name: 'deaf',
    run: (_, context) => new Promise(() => setInterval(() => note('T', context), TICK_MS)),
  }),
  // comes back whatever it was told, and far too late
  journaled({
    name: 'late',
    lane: 'shared',
    run: ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, 'at last')),
  }),
  journaled({ name: 'exit', run: ({ code }) => process.exit(code) }),
  journaled({
    name: 'memory',
    memoryLimitMb: 24,
    run() {
      const kept = []
      for (;;) kept.push(Array.from({ length: 10_000 }, (_, index) => ({ index })))
    },
  }),
  journaled({
    name: 'stray',
    async run() {
      void Promise.reject(new Error('a stray rejection'))
      setTimeout(() => {
        throw new Error('a stray timer')
      }, 5)
    },
  }),
  journaled({
    name: 'flood',
    run(_, context) {
      for (let line = 0; line < 2_000; line++) {
        console.log('x'.repeat(1_000))
        context.logger.info('y'.repeat(1_000))
      }
      return 'z'.repeat(50_000)
    },
  }),
  // an output that cannot be stored
  journaled({ name: 'unstorable', run: () => new Map([['a', 1n]]) }),
  journaled({ name: 'killer', run: () => process.kill(process.pid, 'SIGKILL') }),
]
