import { executorContract } from '../executor/executor-contract.js'
import { openThreads } from './thread-harness.js'

executorContract('worker threads', () =>
  openThreads(new URL('../executor/contract-handlers.ts', import.meta.url)),
)
