import { defineHandler } from '../../server/handlers/index.js'

/** Handlers that do next to nothing: what is left is the way to the thread and back. */
export const handlers = [
  defineHandler({ name: 'nothing', run: () => ({ value: 55 }) }),
  defineHandler({ name: 'echo', run: (input) => input }),
  defineHandler({ name: 'soon', run: async (input) => input }),
] as const
