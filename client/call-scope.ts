import { CallAbortedError } from './punctual-error.js'

/**
 * What may end one call from outside: the caller's signal, and the client that closes. The steps of a call run one after another under
 * its scope; when the scope ends, the step under way is cancelled and the call rejects with the reason.
 */
export class CallScope {
  readonly #left: ((scope: CallScope) => void) | undefined
  #listeners: Set<() => void> | undefined
  #reason: Error | undefined
  #cancelStep: ((reason: Error) => void) | undefined

  /** @param left - Called when the call is over. */
  constructor(left?: (scope: CallScope) => void) {
    this.#left = left
  }

  /**
   * Runs one step: `begin` starts it and returns how to cancel it. Rejects when the scope has ended or ends before it: with the reason,
   * unless the cancelling function rejects with an error that tells more.
   */
  step<T>(
    begin: (resolve: (value: T) => void, reject: (error: Error) => void) => (reason: Error) => void,
  ): Promise<T> {
    if (this.#reason !== undefined) return Promise.reject(this.#reason)
    return new Promise((resolve, reject) => {
      let settled = false
      const settle = (): void => {
        settled = true
        this.#cancelStep = undefined
      }
      const cancel = begin(
        (value) => {
          settle()
          resolve(value)
        },
        (error) => {
          settle()
          reject(error)
        },
      )
      if (settled) return
      this.#cancelStep = (reason) => {
        settle()
        cancel(reason)
        reject(reason)
      }
    })
  }

  /** Calls `fn` when the scope ends, whatever step runs then. Returns how to forget it. */
  onEnd(fn: () => void): () => void {
    this.#listeners ??= new Set()
    this.#listeners.add(fn)
    return () => this.#listeners?.delete(fn)
  }

  /** Ends the call: its step is cancelled, later steps reject. */
  end(reason: Error): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#cancelStep?.(reason)
    for (const fn of this.#listeners ?? []) fn()
  }

  /** Why it has ended; nothing while it has not. */
  get reason(): Error | undefined {
    return this.#reason
  }

  /** @throws the reason, when the scope has ended. */
  throwIfEnded(): void {
    if (this.#reason !== undefined) throw this.#reason
  }

  /** The call is over: nothing of it stays on the caller's signal. */
  leave(): void {
    this.#left?.(this)
  }
}

/** The open calls of one kind of one client. */
export class CallScopes {
  readonly #open = new Set<CallScope>()
  // one listener for a signal, however many calls it has: Node warns of a leak from the eleventh on
  readonly #bySignal = new Map<AbortSignal, { scopes: Set<CallScope>; listener: () => void }>()
  // shared by all calls without a signal
  readonly #withoutSignal = (scope: CallScope): void => this.#leave(scope, undefined)
  #ended: Error | undefined
  #onIdle: (() => void) | undefined

  /** How many calls are open. */
  get size(): number {
    return this.#open.size
  }

  /**
   * Opens the scope of a call; the call must {@link CallScope.leave} it.
   *
   * @throws the reason, when these calls have been ended; {@link CallAbortedError} when the signal has been aborted.
   */
  open(signal: AbortSignal | undefined): CallScope {
    if (this.#ended !== undefined) throw this.#ended
    if (signal?.aborted === true) throw new CallAbortedError(signal)
    const scope = new CallScope(
      signal === undefined ? this.#withoutSignal : (left) => this.#leave(left, signal),
    )
    this.#open.add(scope)
    if (signal !== undefined) this.#listen(signal, scope)
    return scope
  }

  /** Runs a call in a scope of its own. */
  async run<T>(signal: AbortSignal | undefined, call: (scope: CallScope) => Promise<T>): Promise<T> {
    const scope = this.open(signal)
    try {
      return await call(scope)
    } finally {
      scope.leave()
    }
  }

  /** From now on no call can be opened. */
  refuse(reason: Error): void {
    this.#ended ??= reason
  }

  /** Ends every open call; from now on none can be opened. */
  endAll(reason: Error): void {
    this.refuse(reason)
    for (const scope of this.#open) scope.end(reason)
  }

  /** Calls `fn` once when no call is open (any more). */
  whenIdle(fn: () => void): void {
    if (this.#open.size === 0) fn()
    else this.#onIdle = fn
  }

  #listen(signal: AbortSignal, scope: CallScope): void {
    const known = this.#bySignal.get(signal)
    if (known !== undefined) {
      known.scopes.add(scope)
      return
    }
    const scopes = new Set([scope])
    const listener = (): void => {
      const reason = new CallAbortedError(signal)
      for (const each of scopes) each.end(reason)
    }
    this.#bySignal.set(signal, { scopes, listener })
    signal.addEventListener('abort', listener)
  }

  #leave(scope: CallScope, signal: AbortSignal | undefined): void {
    if (!this.#open.delete(scope)) return
    const known = signal && this.#bySignal.get(signal)
    if (known?.scopes.delete(scope) === true && known.scopes.size === 0) {
      signal?.removeEventListener('abort', known.listener)
      if (signal !== undefined) this.#bySignal.delete(signal)
    }
    if (this.#open.size === 0) {
      this.#onIdle?.()
      this.#onIdle = undefined
    }
  }
}
