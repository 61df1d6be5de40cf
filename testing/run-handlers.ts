import { runAttempt } from '../server/executor/run-attempt.js'
import { AttemptContext } from '../server/handlers/handler-context.js'
import type { LoadedHandlers } from '../server/handlers/load-handlers.js'
import { type Log, SILENT } from '../server/task/log.js'
import type { RunInProcess } from './in-process-executor.js'

const MAX_OUTPUT_BYTES = 1024 * 1024

/**
 * Runs real handlers in the process, by the same steps as a worker thread: the input is checked again, the output is checked and must be storable, what is
 * thrown becomes plain data.
 *
 * @example new InProcessExecutor({ clock, run: runHandlers(await loadHandlers(['./handlers.js'])) })
 */
export function runHandlers(
  handlers: LoadedHandlers,
  {
    log = SILENT,
    maxOutputBytes = MAX_OUTPUT_BYTES,
  }: { readonly log?: Log; readonly maxOutputBytes?: number } = {},
): RunInProcess {
  return (request, { signal, sleep }) => {
    const handler = handlers.get(request.handler)
    if (handler === undefined) throw new Error(`there is no handler '${request.handler}'`)
    const context = new AttemptContext(request, {
      loggerFor: () => log,
      // The context itself rejects when the attempt was told to stop.
      sleep: (ms) => sleep(ms).catch(() => {}),
    })
    signal.addEventListener('abort', () => context.stop(stopReason(signal)), { once: true })
    return runAttempt(handler, request.payload, context, maxOutputBytes)
  }
}

function stopReason({ reason }: AbortSignal): 'timedOut' | 'cancelled' {
  return reason instanceof Error && reason.name === 'TimeoutError' ? 'timedOut' : 'cancelled'
}
