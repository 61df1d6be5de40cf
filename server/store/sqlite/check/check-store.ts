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

/**
 * Holds a store to every invariant of its layout, as it is at one moment; changes nothing. Reads all of it in one transaction, so beside a busy server rather
 * check a backup: the write-ahead log cannot be cut meanwhile.
 *
 * @param path - A data folder, whether a server uses it or not, or a file such as a backup.
 * @param onStep - Told before each part, of how many.
 * @throws StoreOpenError when there is no store that can be read.
 * @example checkStore('/backups/monday.db').findings.filter(({ broken }) => broken > 0)
 */
export function checkStore(path: string, onStep?: (what: string, done: number) => void): CheckReport {
  const snapshot = openSnapshot(path)
  const { file, connection } = snapshot
  const step = <T>(what: string, done: number, work: () => T): T => {
    onStep?.(what, done)
    return work()
  }
  try {
    const sound = step('the file', 0, () => checkFile(connection))
    if (sound.some(({ broken }) => broken > 0)) return { file, findings: sound }
    const counts = new Counts(connection)
    const handlers = new HandlerNumbers(connection)
    const lookup = new Lookup(connection, handlers)
    const places = step('ids', 0.3, () => checkPlaces(connection, counts))
    const { findings: log, latest } = step('the log', 0.5, () => checkLog(connection, counts))
    const { nextStartId } = new Meta(connection)
    const live = step('live tasks', 0.7, () => checkLive(connection, { handlers, nextStartId, latest }))
    const ended = step('ended tasks', 0.8, () => checkEnded(connection, { lookup, handlers }))
    const counted = step('counts', 0.95, () => checkCounts(connection, counts))
    const consumers = checkConsumers(connection, latest)
    return { file, findings: [...sound, ...places, ...log, ...live, ...ended, counted, consumers] }
  } finally {
    snapshot.close()
  }
}
