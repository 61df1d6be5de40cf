import { isLive, type Task } from '../../../task/task.js'
import { StoreOpenError, type StoredConsumer } from '../../task-store.js'
import type { EndLine, ExportLine, HeaderLine } from '../../transfer/export-line.js'
import { BytesOut } from '../bytes-out.js'
import type { Connection } from '../connection.js'
import { ConsumerRows } from '../consumers.js'
import { Counts } from '../counts.js'
import { HandlerNumbers } from '../handler-numbers.js'
import { storedId } from '../id-key.js'
import { Meta } from '../meta.js'
import { STATE_NUMBER } from '../numbers.js'
import { writeSpec } from '../spec-codec.js'
import { LIVE_COLUMNS, WAITING_COLUMNS, waitingValues } from '../table-columns.js'
import { writeHead } from '../task-head.js'
import type { ResultCodec } from './export-store.js'
import { ImportLog } from './import-log.js'

/** Puts the lines of an export into an empty store; part of the transaction under way. */
export class ImportRows {
  readonly #counts: Counts
  readonly #handlers: HandlerNumbers
  readonly #consumers: ConsumerRows
  readonly #log: ImportLog
  readonly #id
  readonly #near
  readonly #waiting
  readonly #ended
  readonly #meta: Meta
  readonly #bytes = new BytesOut()
  readonly #consumerNames = new Set<string>()
  #header: HeaderLine | undefined
  #lines = 0
  #isWhole = false

  constructor(connection: Connection, encode: ResultCodec['encode']) {
    const live = '?, ?, ?, ?, ?, ?, ?, NULL, NULL, ?, ?, ?'
    this.#counts = new Counts(connection)
    this.#handlers = new HandlerNumbers(connection)
    this.#consumers = new ConsumerRows(connection)
    this.#log = new ImportLog(connection, this.#counts, encode)
    this.#id = connection.prepare("INSERT OR IGNORE INTO ids VALUES ('', ?, ?)")
    this.#near = connection.prepare(`INSERT INTO near (${LIVE_COLUMNS}) VALUES (${live})`)
    this.#waiting = connection.prepare(
      `INSERT INTO waiting (${LIVE_COLUMNS}, ${WAITING_COLUMNS}) VALUES (${live}, ?, ?, ?, ?)`,
    )
    this.#ended = connection.prepare('INSERT INTO ended VALUES (?, ?, ?, ?, ?, ?)')
    this.#meta = new Meta(connection)
  }

  /** @throws StoreOpenError when the line cannot stand there. */
  add(line: ExportLine): void {
    try {
      this.#add(line)
    } catch (error) {
      throw twice(error) ?? error
    }
    this.#lines += 1
  }

  #add(line: ExportLine): void {
    if (this.#isWhole) throw new StoreOpenError('nothing may follow the line of type end')
    if (line.type !== 'export') this.#mustHaveBegun()
    switch (line.type) {
      case 'export':
        this.#begin(line)
        break
      case 'consumer':
        this.#addConsumer(line.consumer)
        break
      case 'task':
        this.#addLive(line.task, line.logPosition)
        break
      case 'result':
        if (line.task) this.#addEnded(line.task, line.position)
        this.#log.add(line)
        break
      case 'ended':
        this.#addEnded(line.task, line.position)
        this.#log.add(line)
        break
      case 'end':
        this.#end(line)
        break
    }
  }

  /** @throws StoreOpenError when the last line has not come. */
  finish(): void {
    if (this.#isWhole) return
    throw new StoreOpenError(
      this.#lines === 0
        ? 'there is nothing: an export has at least two lines'
        : `after ${this.#lines} lines there must be one of type end: the export is not whole`,
    )
  }

  #begin(header: HeaderLine): void {
    if (this.#header) throw new StoreOpenError('a second export begins; give one at a time')
    this.#header = header
    this.#counts.newestArrival = header.newestArrival
    this.#counts.lastChange = header.lastChange
    this.#counts.logFloor = header.logFloor
    this.#meta.nextStartId = header.nextStartId
    this.#log.begin(header.logFloor)
  }

  #addConsumer(consumer: StoredConsumer): void {
    if (this.#consumerNames.has(consumer.name))
      throw new StoreOpenError(`the consumer ${consumer.name} is there twice`)
    this.#consumerNames.add(consumer.name)
    this.#consumers.run({ kind: 'keepConsumer', consumer })
  }

  #mustHaveBegun(): void {
    if (!this.#header) throw new StoreOpenError('the first line must be of type export')
  }

  #end({ lines }: EndLine): void {
    if (lines !== this.#lines)
      throw new StoreOpenError(`there were ${lines} lines before this one, here are ${this.#lines}`)
    this.#log.flush()
    this.#counts.flush()
    this.#isWhole = true
  }

  /** What runs, or is to be cancelled, is where a start looks for it; all else waits until a scheduler takes it. */
  #addLive(task: Task, logPosition: number): void {
    this.#remember(task)
    const out = this.#bytes
    out.clear()
    writeHead(out, task)
    const headBytes = out.length
    writeSpec(out, task.spec)
    const packed = out.take()
    const head = packed.subarray(0, headBytes)
    const values = [
      task.arrival,
      '',
      storedId(task.spec.id),
      this.#handlers.numberOf(task.spec.handler),
      task.dueTime,
      STATE_NUMBER[task.state],
      task.startId,
      logPosition,
      head,
      packed.subarray(headBytes),
    ] as const
    if (task.state === 'running' || task.cancelRequested) {
      this.#near.run(...values)
      return
    }
    const { shard, priority, notBefore, paused } = waitingValues(head)
    this.#waiting.run(...values, shard, priority, notBefore, paused)
  }

  #addEnded(task: Task, position: number): void {
    this.#remember(task)
    const { arrival, spec, dueTime, state } = task
    const handler = this.#handlers.numberOf(spec.handler)
    this.#ended.run(arrival, storedId(spec.id), position, dueTime, STATE_NUMBER[state], handler)
  }

  #remember({ arrival, spec, state, startId }: Task): void {
    const { newestArrival = 0, nextStartId = 0 } = this.#header ?? {}
    if (arrival > newestArrival)
      throw new StoreOpenError(
        `arrival ${arrival} is after ${newestArrival}, the newest that the first line names`,
      )
    if (isLive(state) && startId >= nextStartId)
      throw new StoreOpenError(
        `start_id ${startId} is not before ${nextStartId}, the next that the first line names`,
      )
    if (this.#id.run(storedId(spec.id), arrival).changes === 0)
      throw new StoreOpenError(`the task ${spec.id} is there twice`)
    this.#counts.add(STATE_NUMBER[state], 1)
  }
}

/** What the tables say about numbers that must be there once. */
function twice(error: unknown): StoreOpenError | undefined {
  const table = /^UNIQUE constraint failed: (\w+)\./.exec((error as Error).message)?.[1]
  if (table === undefined) return undefined
  const what = table === 'runs' ? 'a result of this run' : 'a task of this arrival'
  return new StoreOpenError(`${what} is there already`, { cause: error })
}
