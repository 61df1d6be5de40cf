import { executorContract } from '../executor/executor-contract.js'
import { openThreads } from './thread-harness.js'

executorContract('worker threads', () => openThreads('../executor/contract-handlers.ts'))
