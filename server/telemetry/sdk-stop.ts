import type { Clock } from '../clock.js'
import type { Log } from '../task/log.js'

/**
 * Waits for everything that stops, but no longer than `limitMs`: a collector that is down must not hold the process.
 *
 * @returns Whether all of it went well and in time; if not, the log says what did not.
 */
export async function stopWithin(
  limitMs: number,
  stopping: readonly Promise<void>[],
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<boolean> {
  let giveUp = (): void => {}
  const late = new Promise<'late'>((resolve) => (giveUp = () => resolve('late')))
  const timer = clock.setTimer(limitMs, giveUp)
  const ends = await Promise.race([Promise.allSettled(stopping), late])
  timer.cancel()
  if (ends === 'late') {
    log.warn('telemetry did not stop in time: what it had not sent is lost', { limitMs })
    return false
  }
  const errors = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown].flat() : []))
  for (const error of errors) log.warn('telemetry could not send everything before it stopped', { error })
  return errors.length === 0
}
