import type { TaskInfo, TaskResult } from '../client/index.js'
import type { Book, Entry } from './book.js'
import type { Note } from './journal.js'
import { checkSeries } from './check-series.js'
import { groupBy } from './group-by.js'
import { JITTER_RATIO } from './plans.js'

/** Everything that is known after the run, from outside. */
export interface Evidence {
  readonly book: Book
  readonly notes: readonly Note[]
  /** The log as it was read live, across all faults. */
  readonly live: readonly TaskResult[]
  /** The log, read again at the end. */
  readonly log: readonly TaskResult[]
  /** By id, every task that the server lists. */
  readonly tasks: ReadonlyMap<string, TaskInfo>
  /** By state, what GetStats counts. */
  readonly counts: Readonly<Record<string, number>>
}

/** One promise, and everything that breaks it. */
export interface Verdict {
  readonly promise: string
  readonly checked: number
  readonly broken: readonly string[]
}

const LIVE = new Set(['scheduled', 'running'])
/** Readings of two threads of one machine. */
const SAME_TIME_MS = 2

/** Holds what happened to what was promised. */
export function check(evidence: Evidence): readonly Verdict[] {
  const entries = [...evidence.book.entries.values()]
  const stored = entries.filter(({ id }) => evidence.tasks.has(id))
  const results = evidence.log.filter(({ kind }) => kind === 'result')
  const ofTask = groupBy(results, ({ taskId }) => taskId)
  const notesOf = groupBy(evidence.notes, ({ taskId }) => taskId)
  const resultsOf = (entry: Entry): readonly TaskResult[] => ofTask.get(entry.id) ?? []
  const notes = (entry: Entry): readonly Note[] => notesOf.get(entry.id) ?? []
  const each = (
    promise: string,
    some: readonly Entry[],
    look: (entry: Entry) => string | undefined,
  ): Verdict => ({
    promise,
    checked: some.length,
    broken: some.flatMap((entry) => {
      const wrong = look(entry)
      return wrong === undefined ? [] : [`${entry.id}: ${wrong}`]
    }),
  })
  const acknowledged = entries.filter(({ isAcknowledged }) => isAcknowledged)
  return [
    each('an acknowledged task is there', acknowledged, ({ id }) =>
      evidence.tasks.has(id) ? undefined : 'is not there',
    ),
    each('every task has ended', stored, ({ id }) => {
      const state = evidence.tasks.get(id)?.state ?? ''
      return LIVE.has(state) ? `is ${state}` : undefined
    }),
    each('each run has exactly one result, in order, none left out', stored, (entry) =>
      oneResultARun(entry, resultsOf(entry)),
    ),
    each('a run ends as its task must', stored, (entry) => outcomesAllowed(entry, resultsOf(entry))),
    each('what succeeded has run to its end', stored, (entry) => hasRun(resultsOf(entry), notes(entry))),
    each('nothing ran before its time', stored, (entry) => neverEarly(entry, resultsOf(entry), notes(entry))),
    each('no attempt ran beside another of its task', stored, (entry) => neverBeside(notes(entry))),
    neverBesideItsKey(evidence, entries),
    each('nothing cancelled ran after the answer', stored, (entry) =>
      neverAfterCancel(entry, resultsOf(entry), notes(entry)),
    ),
    each(
      'at most once',
      stored.filter(({ plan }) => plan.options.atMostOnce),
      (entry) => atMostOnce(notes(entry)),
    ),
    each('a retry waits for its back-off', stored, (entry) => waitsForBackoff(entry, notes(entry))),
    each(
      'a rhythm can prove that it fired: every slot ran or is said to be skipped',
      stored.filter(({ plan, isMeddledWith }) => plan.options.recurrence && !isMeddledWith),
      (entry) => checkSeries(entry, resultsOf(entry)),
    ),
    sameLog(evidence),
    sameCounts(evidence),
    {
      promise: 'no caller met an INTERNAL error',
      checked: evidence.book.calls,
      broken: [...evidence.book.errors.keys()].filter((error) => /INTERNAL|UNKNOWN/.test(error)),
    },
  ]
}

function oneResultARun({ mayHaveReopened }: Entry, results: readonly TaskResult[]): string | undefined {
  const runs = results.map(({ run }) => run)
  const wanted = results.map((_, i) => i + 1)
  if (runs.join() !== wanted.join()) return `its results are of the runs ${runs.join()}`
  const last = results.filter((result) => result.last)
  if (last.length === 0 || results.at(-1) !== last.at(-1)) return 'its last result is not marked as the last'
  return last.length > 1 && !mayHaveReopened ? `has ${last.length} last results` : undefined
}

function outcomesAllowed(
  { plan, mayBeCancelled }: Entry,
  results: readonly TaskResult[],
): string | undefined {
  for (const result of results) {
    const { outcome, interruptedAttempts, run } = result
    if (outcome === 'skipped' && plan.options.recurrence) continue
    if (outcome === 'cancelled' && (mayBeCancelled || plan.options.recurrence)) continue
    const error = 'error' in result ? result.error : undefined
    // given up after three deaths of the server in quarantine: chance may hit an innocent one as well
    if (outcome === 'failed' && error?.code === 'INTERRUPTED' && interruptedAttempts >= 5) continue
    if (!plan.outcomes.includes(outcome)) return `run ${run} ${outcome}: ${error?.code} ${error?.message}`
    if (outcome === 'failed' && error?.code !== plan.code) return `run ${run} failed with ${error?.code}`
    const counted = result.attempts - interruptedAttempts
    const most = plan.options.retry?.maxAttempts ?? 1
    if (outcome !== 'expired' && error?.code !== 'INTERRUPTED' && (counted < 1 || counted > most))
      return `run ${run} took ${counted} attempts of ${most}`
    if ((outcome === 'failed' || outcome === 'timedOut') && error?.code !== 'INTERRUPTED' && counted !== most)
      return `run ${run} was given up after ${counted} attempts of ${most}`
  }
  return undefined
}

function hasRun(results: readonly TaskResult[], notes: readonly Note[]): string | undefined {
  for (const { run, attempts, outcome } of results) {
    if (outcome !== 'succeeded') continue
    const ended = notes.some((note) => note.mark === 'E' && note.run === run && note.attempt === attempts)
    if (!ended) return `attempt ${attempts} of run ${run} SUCCEEDED, but never ended`
  }
  return undefined
}

function neverEarly(
  entry: Entry,
  results: readonly TaskResult[],
  notes: readonly Note[],
): string | undefined {
  const { dueTime, delayMs = 0 } = entry.plan.options
  const asked = entry.isMeddledWith ? 0 : (dueTime?.getTime() ?? entry.sentAt + delayMs)
  const dueOf = new Map(results.map((result) => [result.run, result.dueTime.getTime()]))
  for (const { mark, at, run } of notes) {
    if (mark !== 'S') continue
    if (at < asked) return `started ${asked - at} ms before it was asked to`
    // a replaced run has the due time of its last spec
    const due = entry.mayHaveReopened ? undefined : dueOf.get(run)
    if (due !== undefined && at < due) return `run ${run} started ${due - at} ms early`
  }
  return undefined
}

/** Once an attempt has begun, nothing is heard of an older one. */
function neverBeside(notes: readonly Note[]): string | undefined {
  let newest: Note | undefined
  for (const note of notes) {
    if (note.mark === 'S') newest = note
    else if (newest && !isSameAttempt(note, newest))
      return `attempt ${note.run}/${note.attempt} still ran (${note.mark}) when ${newest.run}/${newest.attempt} had begun`
  }
  return undefined
}

const isSameAttempt = (a: Note, b: Note): boolean =>
  a.taskId === b.taskId && a.pid === b.pid && a.run === b.run && a.attempt === b.attempt

function neverBesideItsKey({ notes }: Evidence, entries: readonly Entry[]): Verdict {
  const keys = new Map(entries.map(({ id, plan }) => [id, plan.options.concurrencyKey]))
  const ofKey = groupBy(notes, ({ taskId }) => keys.get(taskId) ?? '')
  ofKey.delete('')
  const broken = [...ofKey].flatMap(([key, ofThis]) => {
    const wrong = neverBeside(ofThis)
    return wrong === undefined ? [] : [`${key}: ${wrong}`]
  })
  return { promise: 'tasks of one key ran one at a time', checked: ofKey.size, broken }
}

function neverAfterCancel(
  { cancelled, mayHaveReopened }: Entry,
  results: readonly TaskResult[],
  notes: readonly Note[],
): string | undefined {
  if (!cancelled || mayHaveReopened) return undefined
  const { at, state } = cancelled
  const last = results.at(-1)
  if (state !== 'cancelled' && state !== 'running' && state !== 'scheduled') return undefined
  if (last?.outcome !== 'cancelled') return `Cancel answered ${state}, and it ${last?.outcome}`
  const ended = state === 'cancelled' ? at : Math.max(at, last.endTime.getTime())
  const late = notes.find((note) => note.mark === 'S' && note.at > ended + SAME_TIME_MS)
  return late && `started ${late.at - at} ms after Cancel had answered ${state}`
}

function atMostOnce(notes: readonly Note[]): string | undefined {
  const starts = groupBy(notes, ({ mark, run }) => `${mark} ${run}`)
  const twice = [...starts].find(([what, all]) => what.startsWith('S') && all.length > 1)
  return twice && `run ${twice[0].slice(2)} started ${twice[1].length} times`
}

function waitsForBackoff({ plan }: Entry, notes: readonly Note[]): string | undefined {
  const { retry } = plan.options
  if (plan.kind !== 'retried' && plan.kind !== 'hopeless') return undefined
  const { initialBackoffMs = 0 } = retry ?? {}
  let end: Note | undefined
  for (const note of notes) {
    // the attempt of a process that died may not have been stored as failed
    const isNext = end && note.mark === 'S' && note.run === end.run && note.pid === end.pid
    if (isNext && end && note.at - end.at < initialBackoffMs * (1 - JITTER_RATIO) - SAME_TIME_MS)
      return `attempt ${note.attempt} began ${note.at - end.at} ms after the one before`
    end = note.mark === 'E' ? note : undefined
  }
  return undefined
}

function sameLog({ live, log }: Evidence): Verdict {
  const broken: string[] = []
  let before = 0
  live.forEach(({ sequence, taskId }, i) => {
    if (sequence <= before) broken.push(`live: ${sequence} of ${taskId} came after ${before}`)
    before = sequence
    if (broken.length < 20 && log[i]?.sequence !== sequence)
      broken.push(
        `entry ${i}: live ${sequence} of ${taskId}, read again ${log[i]?.sequence} of ${log[i]?.taskId}`,
      )
  })
  if (live.length !== log.length) broken.push(`live ${live.length} entries, read again ${log.length}`)
  return {
    promise: 'a reader that lived through it all has missed none and got none twice',
    checked: log.length,
    broken,
  }
}

function sameCounts({ tasks, counts }: Evidence): Verdict {
  const listed = groupBy(tasks.values(), ({ state }) => state)
  const broken = Object.entries(counts)
    .map(([state, count]) => ({ state, count, found: listed.get(state as TaskInfo['state'])?.length ?? 0 }))
    .filter(({ count, found }) => count !== found)
    .map(({ state, count, found }) => `GetStats counts ${count} ${state}, the list has ${found}`)
  return { promise: 'the counts are exact', checked: Object.keys(counts).length, broken }
}
