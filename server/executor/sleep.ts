import type { Clock } from '../clock.js'

/** Resolves when `ms` of the steady clock have passed, or as soon as `signal` aborts. */
export function sleepOn(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = clock.setTimer(ms, end)
    signal.addEventListener('abort', end, { once: true })
    function end(): void {
      timer.cancel()
      signal.removeEventListener('abort', end)
      resolve()
    }
  })
}
