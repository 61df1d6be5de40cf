import { z } from 'zod'
import { defineHandler, type HandlerContext, TaskError } from '../../server/handlers/index.js'

/** Handlers for the contract suite of executors: what every executor can run, real or in the process. */
const held = new Map<string, () => void>()
const key = z.string()
const ms = z.number()

/** Waits for `free` with the same key, whatever anybody says meanwhile. */
const hold = (name: string) => new Promise<void>((resolve) => void held.set(name, resolve))

function facts({ taskId, run, attempt, idempotencyKey, dueTime, labels }: HandlerContext): object {
  return { taskId, run, attempt, idempotencyKey, dueTime: dueTime.toISOString(), labels }
}

export const handlers = [
  defineHandler({ name: 'echo', run: (input) => input }),
  defineHandler({ name: 'soon', run: async (input) => input }),
  defineHandler({ name: 'facts', run: (_, context) => facts(context) }),
  defineHandler({
    name: 'fail',
    run() {
      throw new TaskError('as asked', {
        code: 'ASKED',
        retryable: false,
        cause: new RangeError('the reason'),
      })
    },
  }),
  defineHandler({
    name: 'double',
    input: z.object({ n: z.number(), by: z.number().default(2) }),
    run: ({ n, by }) => n * by,
  }),
  defineHandler({ name: 'date', run: () => ({ at: new Date(0) }) }),
  /** Waits, and stops when asked to. */
  defineHandler({ name: 'wait', input: ms, run: (input, context) => context.sleep(input) }),
  /** Never ends and never listens. */
  defineHandler({ name: 'deaf', run: () => new Promise<void>(() => {}) }),
  /** Stops when asked to, and says why. */
  defineHandler({
    name: 'listen',
    async run(_, context) {
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
      return (context.signal.reason as Error).name
    },
  }),
  defineHandler({
    name: 'share-wait',
    lane: 'shared',
    input: ms,
    run: (input, context) => context.sleep(input),
  }),
  defineHandler({ name: 'share-hold', lane: 'shared', input: key, run: hold }),
  defineHandler({ name: 'share-free', lane: 'shared', input: key, run: (name) => held.get(name)?.() }),
] as const
