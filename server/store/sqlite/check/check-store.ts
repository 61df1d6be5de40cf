import { Counts } from '../counts.js'
import { HandlerNumbers } from '../handler-numbers.js'
import { Lookup } from '../lookup.js'
import { Meta } from '../meta.js'
import { openSnapshot } from '../snapshot.js'
import { checkConsumers, checkCounts } from './check-counts.js'
import { checkEnded } from './check-ended.js'
import { checkFile } from './check-file.js'
import { checkLive } from './check-live.js'
import { checkLog } from './check-log.js'
import { checkPlaces } from './check-places.js'
import type { Finding } from './tally.js'

export interface CheckReport {
  readonly file: string
  /** One for each invariant, those that hold too. */
  readonly findings: readonly Finding[]
}

/** A part of a check that comes next. */
export interface CheckStep {
  readonly what: string
  /** How much is done before it: from 0 to 1. */
  readonly done: number
}

/**
 * Holds a store to every invariant of its layout, as it is at one moment; changes nothing. Reads all of it in one transaction, so beside a busy server rather
 * check a backup: the write-ahead log cannot be cut meanwhile.
 *
 * @param path - A data folder, whether a server uses it or not, or a file such as a backup.
 * @param onStep - Told before each part.
 * @throws StoreOpenError when there is no store that can be read.
 * @example checkStore('/backups/monday.db').findings.filter(({ broken }) => broken > 0)
 */
export function checkStore(path: string, onStep?: (step: CheckStep) => void): CheckReport {
  const steps = checkSteps(path)
  for (;;) {
    const next = steps.next()
    if (next.done) return next.value
    onStep?.(next.value)
  }
}

/** The same part by part, for who has to do something else between them; whoever leaves off has to call `return`. */
export function* checkSteps(path: string): Generator<CheckStep, CheckReport> {
  const snapshot = openSnapshot(path)
  const { file, connection } = snapshot
  try {
    yield { what: 'the file', done: 0 }
    const sound = checkFile(connection)
    if (sound.some(({ broken }) => broken > 0)) return { file, findings: sound }
    const counts = new Counts(connection)
    const handlers = new HandlerNumbers(connection)
    const lookup = new Lookup(connection, handlers)
    yield { what: 'ids', done: 0.3 }
    const places = checkPlaces(connection, counts)
    yield { what: 'the log', done: 0.5 }
    const { findings: log, latest } = checkLog(connection, counts)
    yield { what: 'live tasks', done: 0.7 }
    const live = checkLive(connection, { handlers, nextStartId: new Meta(connection).nextStartId, latest })
    yield { what: 'ended tasks', done: 0.8 }
    const ended = checkEnded(connection, { lookup, handlers })
    yield { what: 'counts', done: 0.95 }
    const counted = checkCounts(connection, counts)
    const consumers = checkConsumers(connection, latest)
    return { file, findings: [...sound, ...places, ...log, ...live, ...ended, counted, consumers] }
  } finally {
    snapshot.close()
  }
}
