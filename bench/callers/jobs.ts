import { measureLog, readAll } from './byte-jobs.js'
import { cancelBatches, cancelOneByOne } from './cancel-jobs.js'
import { drain, roundTrips } from './drain-jobs.js'
import { probeLateness, spreadLateness, timerLateness } from './lateness-jobs.js'
import { batchesFor, startLookUps, stopLookUps } from './look-up-jobs.js'
import { replay, startReaders, stopReaders } from './result-jobs.js'
import { fillStore, storeCommits, storeLives } from './store-jobs.js'
import { submitBatches, submitCoalesced, submitUnary } from './submit-jobs.js'
import { threadRoundTrips } from './thread-jobs.js'

/** Everything that a caller can be told to do. */
export const JOBS = {
  submitUnary,
  submitBatches,
  submitCoalesced,
  drain,
  roundTrips,
  spreadLateness,
  probeLateness,
  timerLateness,
  startLookUps,
  stopLookUps,
  batchesFor,
  cancelBatches,
  cancelOneByOne,
  replay,
  measureLog,
  readAll,
  startReaders,
  stopReaders,
  storeCommits,
  storeLives,
  fillStore,
  threadRoundTrips,
}

export type Jobs = typeof JOBS
