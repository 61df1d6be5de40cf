import type { ThreadWork } from './thread-work.js'

/** Turns what handlers print into lines of the server's log: bounded, with their task, and harmless to a terminal. */
export function catchOutput(work: ThreadWork): void {
  catchStream(work, 'stdout')
  catchStream(work, 'stderr')
}

function catchStream(work: ThreadWork, stream: 'stdout' | 'stderr'): void {
  const write = (chunk: unknown, encoding?: unknown, callback?: unknown): boolean => {
    const text =
      typeof chunk === 'string' ? chunk : chunk instanceof Uint8Array ? Buffer.from(chunk).toString() : ''
    const line = text.endsWith('\n') ? text.slice(0, -1) : text
    const live = work.current.getStore()
    const { startId, taskId, handler } = live?.attempt ?? {}
    work.log.write(
      stream === 'stdout' ? 'info' : 'warn',
      line,
      {},
      {
        stream,
        ...(startId === undefined ? {} : { startId }),
        ...(taskId === undefined ? {} : { taskId }),
        ...(handler === undefined ? {} : { handler }),
      },
    )
    const done = typeof encoding === 'function' ? encoding : callback
    if (typeof done === 'function') queueMicrotask(() => void Reflect.apply(done, undefined, []))
    return true
  }
  process[stream].write = write
}
