import type { Instant } from '../../task/instant.js'
import type { Transition } from '../../task/result.js'
import { isLive, type Task } from '../../task/task.js'
import type { AttemptStart, EncodeResult, InsertRequest, LogEntry } from '../task-store.js'
import { BytesOut } from './bytes-out.js'
import { idKey } from './id-key.js'
import { writeEntry } from './log-entry-codec.js'
import { STATE_NUMBER } from './numbers.js'
import {
  INSERT,
  type PackedInsert,
  type PackedStarts,
  type PackedUpdate,
  START,
  UPDATE,
} from './operations.js'
import { writeSpec } from './spec-codec.js'
import { writeHead } from './task-head.js'

/** An entry of an update that is under way: a commit gives it its position. */
export type PendingEntry = { -readonly [K in keyof LogEntry]: LogEntry[K] }

type Transitions = readonly (Transition & { readonly reopen?: boolean })[]

/** Packs what the store is given into texts and buffers. */
export class Packer {
  readonly #encode: EncodeResult
  readonly #bytes = new BytesOut()
  readonly #live = new BytesOut()

  constructor(encode: EncodeResult) {
    this.#encode = encode
  }

  insert(now: Instant, requests: readonly InsertRequest[]): PackedInsert {
    const out = this.#bytes
    out.clear()
    const numbers = new Float64Array(requests.length * INSERT.width)
    const handlers = new Names()
    const keys: string[] = []
    let at = 0
    for (const { task, near } of requests) {
      const head = out.length
      writeHead(out, task)
      const spec = out.length
      writeSpec(out, task.spec)
      keys.push(idKey(task.spec.id))
      numbers[at + INSERT.handler] = handlers.indexOf(task.spec.handler)
      numbers[at + INSERT.headBytes] = spec - head
      numbers[at + INSERT.specBytes] = out.length - spec
      numbers[at + INSERT.near] = near ? 1 : 0
      at += INSERT.width
    }
    return {
      now,
      count: requests.length,
      keys: JSON.stringify(keys),
      handlers: handlers.all,
      numbers,
      bytes: out.take(),
    }
  }

  starts(starts: readonly AttemptStart[]): PackedStarts {
    const numbers = new Float64Array(starts.length * START.width)
    let at = 0
    for (const { arrival, startId, startTimeUs, attempts } of starts) {
      numbers[at + START.arrival] = arrival
      numbers[at + START.startId] = startId
      numbers[at + START.startTimeUs] = startTimeUs
      numbers[at + START.attempts] = attempts
      at += START.width
    }
    return { count: starts.length, numbers }
  }

  /** @returns the packed transitions, and their entries as streams will see them. */
  update(now: Instant, transitions: Transitions): { update: PackedUpdate; pending: PendingEntry[] } {
    const out = this.#bytes
    out.clear()
    this.#live.clear()
    const numbers = new Float64Array(transitions.length * UPDATE.width)
    const handlers = new Names()
    const pending: PendingEntry[] = []
    let at = 0
    for (const transition of transitions) {
      const { task, entries, reopen } = transition
      const live = isLive(task.state)
      const from = out.length
      this.#entries(out, transition, live, pending)
      if (live) this.#liveTask(task, numbers, at)
      numbers[at + UPDATE.arrival] = task.arrival
      numbers[at + UPDATE.startId] = task.startId
      numbers[at + UPDATE.handler] = handlers.indexOf(task.spec.handler)
      numbers[at + UPDATE.due] = task.dueTime
      numbers[at + UPDATE.state] = STATE_NUMBER[task.state]
      numbers[at + UPDATE.ended] = live ? 0 : 1
      numbers[at + UPDATE.reopen] = reopen ? 1 : 0
      numbers[at + UPDATE.entries] = entries.length
      numbers[at + UPDATE.entryBytes] = out.length - from
      at += UPDATE.width
    }
    const update: PackedUpdate = {
      now,
      count: transitions.length,
      handlers: handlers.all,
      numbers,
      entries: out.take(),
      live: this.#live.take(),
    }
    return { update, pending }
  }

  #entries(out: BytesOut, { task, entries }: Transition, live: boolean, pending: PendingEntry[]): void {
    if (!live && entries.length === 0) throw new Error(`the task ${task.spec.id} has ended without a result`)
    for (const [i, result] of entries.entries()) {
      const entry: PendingEntry = {
        position: 0,
        commitTime: 0,
        kind: result.kind,
        taskId: result.taskId,
        handler: result.handler,
        outcome: result.outcome,
        origin: result.origin,
        labels: result.labels,
        run: result.run,
        bytes: this.#encode(result),
      }
      writeEntry(out, entry, task.arrival, !live && i === entries.length - 1 ? task : undefined)
      pending.push(entry)
    }
  }

  /** The spec too, though it seldom changes: SQLite leaves alone the pages of a row that stay the same. */
  #liveTask(task: Task, numbers: Float64Array, at: number): void {
    const out = this.#live
    const head = out.length
    writeHead(out, task)
    const spec = out.length
    writeSpec(out, task.spec)
    numbers[at + UPDATE.headBytes] = spec - head
    numbers[at + UPDATE.specBytes] = out.length - spec
  }
}

/** Names by number, in the order of their first use. */
class Names {
  readonly all: string[] = []
  readonly #indexes = new Map<string, number>()
  #last = ''
  #lastIndex = -1

  indexOf(name: string): number {
    if (name === this.#last && this.#lastIndex >= 0) return this.#lastIndex
    let index = this.#indexes.get(name)
    if (index === undefined) {
      index = this.all.push(name) - 1
      this.#indexes.set(name, index)
    }
    this.#last = name
    this.#lastIndex = index
    return index
  }
}
