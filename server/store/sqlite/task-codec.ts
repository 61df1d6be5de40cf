import type { Task } from '../../task/task.js'
import { packSpec, unpackSpec } from './spec-codec.js'
import { STATE_NUMBER, stateOf } from './numbers.js'

/** A task as its row holds it. `progress` = what is not at its starting value, as JSON; null when all is. */
export interface TaskRow {
  readonly arrival: number
  readonly id: string
  readonly shard: number
  readonly handler: string
  readonly state: number
  readonly paused: number
  readonly priority: number
  readonly due: number
  readonly notBefore: number
  readonly created: number
  readonly startId: number
  readonly progress: string | null
  readonly spec: Uint8Array
}

interface Progress {
  r?: number
  a?: number
  i?: number
  d?: number
  u?: number
  t?: number
  c?: 1
  m?: 1
  e?: Task['lastError']
  s?: Task['series']
  /** Replacement: due time, id-less spec in base64, its handler and priority. */
  n?: [dueTime: number, spec: string, handler: string, priority: number]
  q?: string
  z?: number
}

function progressOf(task: Omit<Task, 'arrival'>): string | null {
  const progress: Progress = {}
  let plain = true
  const set = <K extends keyof Progress>(
    key: K,
    value: Progress[K] | undefined,
    isDefault: boolean,
  ): void => {
    if (isDefault || value === undefined) return
    progress[key] = value
    plain = false
  }
  set('r', task.run, task.run === 1)
  set('a', task.attempts, task.attempts === 0)
  set('i', task.interruptions, task.interruptions === 0)
  set('d', task.soloDeaths, task.soloDeaths === 0)
  set('u', task.suspicions, task.suspicions === 0)
  set('t', task.startTimeUs, task.startTimeUs === 0)
  set('c', 1, !task.cancelRequested)
  set('m', 1, !task.manual)
  set('e', task.lastError, false)
  set('s', task.series, false)
  if (task.replacement) {
    const { dueTime, spec } = task.replacement
    set('n', [dueTime, packSpec(spec).toString('base64'), spec.handler, spec.priority], false)
  }
  set('q', task.requestId, task.requestId === '')
  set('z', task.endTime, task.endTime === 0)
  return plain ? null : JSON.stringify(progress)
}

/** `knownSpec`: the packed spec, when the caller has it already. */
export function packTask(task: Omit<Task, 'arrival'> & { readonly arrival?: number }): TaskRow {
  const { spec } = task
  return {
    arrival: task.arrival ?? 0,
    id: spec.id,
    shard: shardOf(spec.concurrencyKey || spec.id),
    handler: spec.handler,
    state: STATE_NUMBER[task.state],
    paused: task.paused ? 1 : 0,
    priority: spec.priority,
    due: task.dueTime,
    notBefore: task.notBefore,
    created: task.createTime,
    startId: task.startId,
    progress: progressOf(task),
    spec: packSpec(spec),
  }
}

export function unpackTask(row: TaskRow): Task {
  const progress: Progress = row.progress === null ? {} : (JSON.parse(row.progress) as Progress)
  const { id } = row
  return {
    arrival: row.arrival,
    spec: unpackSpec(row.spec, { id, handler: row.handler, priority: row.priority }),
    state: stateOf(row.state),
    run: progress.r ?? 1,
    attempts: progress.a ?? 0,
    interruptions: progress.i ?? 0,
    soloDeaths: progress.d ?? 0,
    suspicions: progress.u ?? 0,
    dueTime: row.due,
    notBefore: row.notBefore,
    createTime: row.created,
    startTimeUs: progress.t ?? 0,
    startId: row.startId,
    paused: row.paused === 1,
    cancelRequested: progress.c === 1,
    manual: progress.m === 1,
    ...(progress.e ? { lastError: progress.e } : {}),
    ...(progress.s ? { series: progress.s } : {}),
    ...(progress.n
      ? {
          replacement: {
            dueTime: progress.n[0],
            spec: unpackSpec(Buffer.from(progress.n[1], 'base64'), {
              id,
              handler: progress.n[2],
              priority: progress.n[3],
            }),
          },
        }
      : {}),
    requestId: progress.q ?? '',
    endTime: progress.z ?? 0,
  }
}

/** Which of 256 shards a task belongs to: later nodes lease shards, so tasks that share a key stay together. FNV-1a over UTF-16 units. */
export function shardOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff
}
