import type { AttemptError } from '../../task/outcome.js'
import type { Series, Task } from '../../task/task.js'
import type { TaskSpec } from '../../task/task-spec.js'
import { BytesIn } from './bytes-in.js'
import { BytesOut } from './bytes-out.js'
import { STATE_NUMBER, stateOf } from './numbers.js'
import { readSpec, writeSpec } from './spec-codec.js'

/** What a head may hold or say. Never renumber: files hold them. */
const HAS = {
  paused: 1,
  cancelRequested: 2,
  manual: 4,
  interruptions: 8,
  soloDeaths: 16,
  suspicions: 32,
  lastError: 64,
  series: 128,
  replacement: 256,
  requestId: 512,
} as const

/** Where the writer finds what it needs without unpacking: the columns of a waiting task. */
export const HEAD = {
  parts: 0,
  shard: 4,
  state: 5,
  priority: 6,
  due: 7,
  notBefore: 15,
  startId: 31,
  endTime: 47,
} as const
/** Priorities are shifted to be written without a sign. */
export const PRIORITY_SHIFT = 100

/**
 * All of a task but its spec, id, handler and arrival:
 * u32 what it has · u8 shard · u8 state · u8 priority · f64 each: due, not before, created, start id, start time (µs), end time, run, attempts · then what it has.
 */
export function writeHead(out: BytesOut, task: Omit<Task, 'arrival'>): void {
  const { spec, lastError, series, replacement } = task
  let parts = 0
  if (task.paused) parts |= HAS.paused
  if (task.cancelRequested) parts |= HAS.cancelRequested
  if (task.manual) parts |= HAS.manual
  if (task.interruptions !== 0) parts |= HAS.interruptions
  if (task.soloDeaths !== 0) parts |= HAS.soloDeaths
  if (task.suspicions !== 0) parts |= HAS.suspicions
  if (lastError) parts |= HAS.lastError
  if (series) parts |= HAS.series
  if (replacement) parts |= HAS.replacement
  if (task.requestId !== '') parts |= HAS.requestId
  out.u32(parts)
  out.u8(shardOf(spec.concurrencyKey || spec.id))
  out.u8(STATE_NUMBER[task.state])
  out.u8(spec.priority + PRIORITY_SHIFT)
  out.f64(task.dueTime)
  out.f64(task.notBefore)
  out.f64(task.createTime)
  out.f64(task.startId)
  out.f64(task.startTimeUs)
  out.f64(task.endTime)
  out.f64(task.run)
  out.f64(task.attempts)
  if (parts < HAS.interruptions) return
  if (task.interruptions !== 0) out.f64(task.interruptions)
  if (task.soloDeaths !== 0) out.f64(task.soloDeaths)
  if (task.suspicions !== 0) out.f64(task.suspicions)
  if (lastError) out.text(JSON.stringify(lastError), 4)
  if (series) out.text(JSON.stringify(series), 4)
  if (replacement) {
    const next = new BytesOut()
    writeSpec(next, replacement.spec)
    out.f64(replacement.dueTime)
    out.u8(replacement.spec.priority + PRIORITY_SHIFT)
    out.text(replacement.spec.handler, 1)
    out.u32(next.length)
    out.bytes(next.take())
  }
  if (task.requestId !== '') out.text(task.requestId, 2)
}

/** What stands beside a head. */
export interface BesideHead {
  readonly arrival: number
  readonly id: string
  readonly handler: string
  readonly spec: Uint8Array
}

export function readTask(head: Uint8Array, { arrival, id, handler, spec: packed }: BesideHead): Task {
  const from = new BytesIn(head)
  const parts = from.u32()
  const has = (part: number): boolean => (parts & part) !== 0
  from.u8()
  const state = stateOf(from.u8())
  const spec = readSpec(packed, { id, handler, priority: from.u8() - PRIORITY_SHIFT })
  const dueTime = from.f64()
  const notBefore = from.f64()
  const createTime = from.f64()
  const startId = from.f64()
  const startTimeUs = from.f64()
  const endTime = from.f64()
  const run = from.f64()
  const attempts = from.f64()
  const interruptions = has(HAS.interruptions) ? from.f64() : 0
  const soloDeaths = has(HAS.soloDeaths) ? from.f64() : 0
  const suspicions = has(HAS.suspicions) ? from.f64() : 0
  const lastError = has(HAS.lastError) && (JSON.parse(from.text(4)) as AttemptError)
  const series = has(HAS.series) && (JSON.parse(from.text(4)) as Series)
  const replacement = has(HAS.replacement) && readReplacement(from, id)
  return {
    arrival,
    spec,
    state,
    run,
    attempts,
    interruptions,
    soloDeaths,
    suspicions,
    dueTime,
    notBefore,
    createTime,
    startTimeUs,
    startId,
    paused: has(HAS.paused),
    cancelRequested: has(HAS.cancelRequested),
    manual: has(HAS.manual),
    ...(lastError && { lastError }),
    ...(series && { series }),
    ...(replacement && { replacement }),
    requestId: has(HAS.requestId) ? from.text(2) : '',
    endTime,
  }
}

function readReplacement(from: BytesIn, id: string): { readonly spec: TaskSpec; readonly dueTime: number } {
  const dueTime = from.f64()
  const priority = from.u8() - PRIORITY_SHIFT
  const handler = from.text(1)
  return { dueTime, spec: readSpec(from.bytes(from.u32()), { id, handler, priority }) }
}

/** Which of 256 shards a task belongs to: later nodes lease shards, so tasks that share a key stay together. FNV-1a over UTF-16 units. */
function shardOf(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 8) ^ (hash >>> 16) ^ (hash >>> 24)) & 0xff
}
