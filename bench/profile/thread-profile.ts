import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A function in a profile, and what it called. */
export interface Frame {
  readonly name: string
  readonly url: string
  readonly line: number
  /** Of its own, without what it called: microseconds, or bytes. */
  own: number
  readonly calls: Map<string, Frame>
}

/** What one thread did. */
export interface ThreadProfile {
  readonly thread: string
  readonly pid: number
  /** Microseconds of CPU, by the kernel. */
  readonly cpuUs: number
  /** Its calls, identical ones put together. Without time that the thread slept. */
  readonly root: Frame
  /** Sum of all `own`. */
  readonly total: number
}

interface CallFrame {
  readonly functionName: string
  readonly url: string
  readonly lineNumber: number
}

interface CpuNode {
  readonly id: number
  readonly callFrame: CallFrame
  readonly children?: readonly number[]
}

interface HeapNode {
  readonly callFrame: CallFrame
  readonly selfSize: number
  readonly children: readonly HeapNode[]
}

interface Recorded {
  /** Of a worker thread: its first file. */
  readonly url: string
  readonly cpuUs: number
  readonly profile:
    | {
        readonly nodes: readonly CpuNode[]
        readonly samples: readonly number[]
        readonly timeDeltas: readonly number[]
      }
    | { readonly head: HeapNode }
}

/** Reads what `record.mjs` has written, busiest thread first. */
export function readProfiles(folder: string): ThreadProfile[] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.json'))
    .map((file) => {
      const { url, cpuUs, profile } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Recorded
      const root = newFrame({ functionName: '(root)', url: '', lineNumber: 0 })
      if ('head' in profile) addHeap(profile.head, root)
      else {
        addSamples(profile, root)
        leaveNativeTheRest(root, cpuUs)
      }
      const pid = Number(file.split('-')[0])
      return { thread: threadName(url, root), pid, cpuUs, root, total: totalOf(root) }
    })
    .filter(({ total }) => total > 0)
    .toSorted((a, b) => b.cpuUs - a.cpuUs)
}

/**
 * A thread that sleeps is sampled as `(program)`, as is native code: only the kernel knows which. So native code gets what is left of the thread's CPU; without the
 * kernel's count, nothing.
 */
function leaveNativeTheRest(root: Frame, cpuUs: number): void {
  for (const call of root.calls.values()) {
    if (call.name !== '(program)') continue
    call.own = 0
    call.own = Math.max(0, cpuUs - totalOf(root))
  }
}

/** Own time of a frame and of all that it called. */
export function totalOf(frame: Frame): number {
  let total = frame.own
  for (const call of frame.calls.values()) total += totalOf(call)
  return total
}

function addSamples(
  { nodes, samples, timeDeltas }: Extract<Recorded['profile'], { nodes: unknown }>,
  root: Frame,
): void {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const frames = new Map<number, Frame>()
  const place = (node: CpuNode, parent: Frame): void => {
    if (isRecorder(node.callFrame)) return
    const frame = isPlumbing(node.callFrame) ? parent : frameIn(parent, node.callFrame)
    frames.set(node.id, frame)
    for (const child of node.children ?? []) {
      const next = byId.get(child)
      if (next) place(next, frame)
    }
  }
  const [first] = nodes
  if (first) place(first, root)
  samples.forEach((id, i) => {
    const name = byId.get(id)?.callFrame.functionName
    const frame = frames.get(id)
    if (frame && name !== '(idle)') frame.own += Math.max(0, timeDeltas[i] ?? 0)
  })
}

function addHeap(node: HeapNode, parent: Frame): void {
  const frame = isPlumbing(node.callFrame) ? parent : frameIn(parent, node.callFrame)
  frame.own += node.selfSize
  for (const child of node.children) addHeap(child, frame)
}

const isPlumbing = ({ functionName }: CallFrame): boolean =>
  functionName === '(root)' || functionName === '(idle)'
const isRecorder = ({ functionName, url }: CallFrame): boolean =>
  functionName === 'dispatch' || url.includes('profile/record.mjs')

function frameIn(parent: Frame, call: CallFrame): Frame {
  const key = `${call.functionName} ${call.url} ${call.lineNumber}`
  let frame = parent.calls.get(key)
  if (!frame) parent.calls.set(key, (frame = newFrame(call)))
  return frame
}

const newFrame = ({ functionName, url, lineNumber }: CallFrame): Frame => ({
  name: functionName || '(anonymous)',
  url,
  line: lineNumber + 1,
  own: 0,
  calls: new Map(),
})

/** Told by the file that a thread began with; two of the store's, of which one reads. */
function threadName(url: string, root: Frame): string {
  const code: string[] = []
  const visit = (frame: Frame): void => {
    code.push(frame.url)
    for (const call of frame.calls.values()) visit(call)
  }
  visit(root)
  const has = (part: string): boolean => code.some((one) => one.includes(part))
  if (url === 'main') return has('bench/callers/') ? 'client' : 'main'
  if (url.includes('store-thread')) return has('store/sqlite/writer') ? 'store' : 'store-reader'
  return url.includes('piscina') ? 'handlers' : 'other'
}
