import type { Frame, ThreadProfile } from './thread-profile.js'

/** What a thread spent on one stage. */
export interface StageShare {
  readonly thread: string
  readonly stage: string
  /** Of all that the thread did, 0 to 1. */
  readonly share: number
}

/** Whose code it is: the first that fits. */
const STAGES: readonly (readonly [pattern: RegExp, stage: string])[] = [
  [/\/server\/rpc\//, 'rpc: read and answer'],
  [/\/server\/admission\//, 'admission'],
  [/\/server\/handlers\//, 'handlers: catalogue, schemas, context'],
  [/\/server\/scheduler\//, 'scheduler'],
  [/\/server\/task\//, 'task: the rules'],
  [/\/server\/executor\//, 'executor: to threads and back'],
  [/\/server\/store\//, 'store'],
  [/\/server\/results\//, 'results'],
  [/\/server\/(stats|compose|telemetry|watchdog|maintenance|clock|main)/, 'statistics, telemetry, clock'],
  [/\/proto\/generated\/|@bufbuild\/protobuf/, 'protobuf'],
  [/\/client\//, 'client: the SDK'],
  [/\/bench\//, 'bench'],
  [/@grpc\/grpc-js/, 'gRPC (grpc-js)'],
  [/@photostructure\/sqlite/, 'store'],
  [/@opentelemetry/, 'statistics, telemetry, clock'],
  [/node_modules\/(zod|valibot|uuid)/, 'handlers: catalogue, schemas, context'],
  [/node_modules\/hdr-histogram/, 'statistics, telemetry, clock'],
  [/node_modules\//, 'other packages'],
]

/**
 * Own time by stage. What Node and V8 do in a call of ours counts as ours: a message to a thread is copied by the line that sends it. What they do by themselves (HTTP/2,
 * sockets, timers) is theirs.
 */
export function stagesOf({ thread, root, total }: ThreadProfile): StageShare[] {
  const sums = new Map<string, number>()
  const visit = (frame: Frame, around: string): void => {
    const stage = stageOf(frame, around)
    sums.set(stage, (sums.get(stage) ?? 0) + frame.own)
    for (const call of frame.calls.values()) visit(call, stage)
  }
  visit(root, NODE)
  return [...sums]
    .filter(([, own]) => own > 0)
    .map(([stage, own]) => ({ thread, stage, share: own / total }))
    .toSorted((a, b) => b.share - a.share)
}

const NODE = 'Node: HTTP/2, sockets, event loop'

function stageOf({ name, url }: Frame, around: string): string {
  if (name === '(garbage collector)') return 'garbage collection'
  if (name === '(program)') return 'native code of Node'
  if (url === '' || url.startsWith('node:')) return around
  return STAGES.find(([pattern]) => pattern.test(url))?.[1] ?? around
}

/** The functions with most own time. */
export function hottest(
  { root, total }: ThreadProfile,
  count: number,
): { readonly where: string; readonly share: number }[] {
  const sums = new Map<string, number>()
  const visit = (frame: Frame): void => {
    const where = placeOf(frame)
    sums.set(where, (sums.get(where) ?? 0) + frame.own)
    for (const call of frame.calls.values()) visit(call)
  }
  visit(root)
  return [...sums]
    .map(([where, own]) => ({ where, share: own / total }))
    .toSorted((a, b) => b.share - a.share)
    .slice(0, count)
}

/** A function, and the end of its path. */
export function placeOf({ name, url, line }: Frame): string {
  if (url === '') return name
  const path = url.replace(/^file:\/\//, '').replace(/^.*\/(dist|node_modules)\//, '')
  return `${name} ${path}:${line}`
}
