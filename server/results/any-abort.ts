/** A signal that follows others, until it is released. */
export interface AnyAbort {
  readonly signal: AbortSignal
  /** Aborts it by hand. */
  readonly abort: () => void
  /** Lets go of the others: one of them may live as long as the server. */
  readonly release: () => void
}

/** Follows the first of several signals. `AbortSignal.any` would do, but on Node 20 a long-lived signal keeps a trace of each that ever followed it. */
export function anyAbort(...signals: readonly AbortSignal[]): AnyAbort {
  const controller = new AbortController()
  const abort = (): void => controller.abort()
  for (const signal of signals) {
    if (signal.aborted) abort()
    else signal.addEventListener('abort', abort)
  }
  return {
    signal: controller.signal,
    abort,
    release: () => {
      for (const signal of signals) signal.removeEventListener('abort', abort)
    },
  }
}
