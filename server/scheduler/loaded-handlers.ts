import type { Lane } from '../executor/executor.js'

/** What the scheduler needs to know of a handler. */
export interface LoadedHandler {
  readonly lane: Lane
  /** Attempts of this handler at once; 0 = as many as the lane has slots. */
  readonly maxConcurrent: number
}

/** The handlers that are loaded; the catalogue is one. */
export interface LoadedHandlers {
  get(name: string): LoadedHandler | undefined
}
