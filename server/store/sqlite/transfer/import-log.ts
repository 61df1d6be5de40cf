import type { Task } from '../../../task/task.js'
import { StoreOpenError } from '../../task-store.js'
import type { EndedLine, HeaderLine, ResultLine } from '../../transfer/export-line.js'
import { BytesOut } from '../bytes-out.js'
import type { Connection } from '../connection.js'
import type { Counts } from '../counts.js'
import { ENTRY, KIND, writeEntry } from '../log-entry-codec.js'
import type { ResultCodec } from './export-store.js'

/** A row of the log is no larger, so that a page of it and a step of retention stay small. */
const MAX_ENTRIES = 1_000
const MAX_BYTES = 1024 * 1024

/** Writes the log of an export: entries that were committed at one time become rows again. */
export class ImportLog {
  readonly #insert
  readonly #run
  readonly #counts: Counts
  readonly #encode: ResultCodec['encode']
  readonly #out = new BytesOut()
  #floor: HeaderLine['logFloor'] = { position: 0, commitTime: 0 }
  #first = 0
  #last = 0
  #lastTime = 0
  #entries = 0
  /** Of the row, those whose results are there. */
  #whole = 0
  #wholeBytes = 0

  constructor(connection: Connection, counts: Counts, encode: ResultCodec['encode']) {
    this.#insert = connection.prepare('INSERT INTO log VALUES (?, ?, ?, ?, ?, ?)')
    this.#run = connection.prepare('INSERT INTO runs VALUES (?, ?, ?)')
    this.#counts = counts
    this.#encode = encode
  }

  begin(floor: HeaderLine['logFloor']): void {
    this.#floor = floor
  }

  /** @throws StoreOpenError when the entry cannot follow the one before it. */
  add(line: ResultLine | EndedLine): void {
    this.#mustFollow(line)
    const isNewRow =
      this.#entries === 0 ||
      line.commitTime !== this.#lastTime ||
      this.#entries >= MAX_ENTRIES ||
      this.#out.length >= MAX_BYTES ||
      (this.#last <= this.#floor.position && line.position > this.#floor.position)
    if (isNewRow) {
      this.flush()
      this.#first = line.position
    }
    const start = this.#out.length
    if (line.type === 'result') this.#addResult(line)
    else this.#addOutline(line)
    this.#out.setU32(start + ENTRY.offset, line.position - this.#first)
    this.#entries += 1
    if (line.type === 'result') {
      this.#whole += 1
      this.#wholeBytes += this.#out.length - start
    }
    this.#last = line.position
    this.#lastTime = line.commitTime
  }

  /** Stores the row under way. */
  flush(): void {
    if (this.#entries === 0) return
    const isKept = this.#first <= this.#floor.position
    // 0: what retention has left is looked at again at once, and gets its time then
    const expires = isKept ? 0 : null
    this.#insert.run(this.#first, this.#last, this.#lastTime, this.#whole, expires, this.#out.take())
    if (!isKept) this.#counts.add('log', this.#whole)
    this.#counts.add('logBytes', this.#wholeBytes)
    this.#entries = 0
    this.#whole = 0
    this.#wholeBytes = 0
  }

  #addResult({ position, arrival, result, task }: ResultLine): void {
    if (task) mustAgree(result, arrival, task)
    const bytes = 'sealed' in result ? result.sealed : this.#encode(result)
    writeEntry(this.#out, { ...result, bytes }, arrival, task)
    if (result.kind === 'result' && !task) this.#run.run(arrival, result.run, position)
  }

  #addOutline({ outcome, run, task }: EndedLine): void {
    const { id, handler, origin, labels } = task.spec
    const start = this.#out.length
    const entry = { kind: 'result', outcome, taskId: id, handler, run, origin, labels } as const
    writeEntry(this.#out, { ...entry, bytes: new Uint8Array(0) }, task.arrival, task)
    this.#out.setU8(start + ENTRY.kind, KIND.outline)
  }

  #mustFollow({ type, position, commitTime }: ResultLine | EndedLine): void {
    if (position <= this.#last)
      throw new StoreOpenError(`position ${position} must come after ${this.#last}, that of the line before`)
    if (commitTime < this.#lastTime)
      throw new StoreOpenError('commit_time is before that of an earlier position')
    if (position <= this.#floor.position) return
    if (type === 'ended') throw new StoreOpenError('the result of an ended task is missing')
    const next = Math.max(this.#last, this.#floor.position) + 1
    if (position !== next)
      throw new StoreOpenError(`position ${position} must be ${next}: no result may be missing in between`)
  }
}

function mustAgree(
  { taskId, handler, kind }: ResultLine['result'],
  arrival: number,
  { spec, ...task }: Task,
): void {
  if (kind !== 'result') throw new StoreOpenError('an attempt cannot be the end of its task')
  if (taskId !== spec.id || arrival !== task.arrival || handler !== spec.handler)
    throw new StoreOpenError(
      `the result is of ${taskId} (arrival ${arrival}, ${handler}), the task is ${spec.id} (arrival ${task.arrival}, ${spec.handler})`,
    )
}
