import { expect, it } from 'vitest'
import { endingOf } from '../../server/executor/pool-errors.js'

const memory = Object.assign(
  new Error('Worker terminated due to reaching memory limit: JS heap out of memory'),
  {
    code: 'ERR_WORKER_OUT_OF_MEMORY',
  },
)

// The texts are those of piscina 5.3; test/outside/thread-faults.test.ts meets the real ones.
it.each([
  [new Error('worker exited with code: 0'), 'WORKER_EXITED', 'exited with code 0'],
  [new Error('worker exited with code: -1'), 'WORKER_EXITED', 'exited with code -1'],
  [memory, 'OUT_OF_MEMORY', 'ERR_WORKER_OUT_OF_MEMORY'],
  [new TypeError('x is not a function'), 'WORKER_CRASHED', 'TypeError: x is not a function'],
  [new Error('Terminating worker thread'), 'WORKER_CRASHED', 'Terminating worker thread'],
  ['a text', 'WORKER_CRASHED', 'a text'],
])('%s is %s', (error, code, text) => {
  expect(endingOf(error)).toEqual({ code, message: expect.stringContaining(text) as string })
})
