import { createClient } from 'punctual'
import { inFlight, type Measured, measured, type Target, timed } from './measured.js'
import { RawClient, taskMessage } from './raw-client.js'

interface Submit {
  readonly target: Target
  readonly tasks: number
  readonly inFlight: number
  /** Far enough that the task waits on disk. */
  readonly dueInMs: number
}

/** A foreign client: one unary `Schedule` for each task. */
export async function submitUnary({ target, tasks, dueInMs, ...given }: Submit): Promise<Measured> {
  const client = await new RawClient(target.address).ready()
  try {
    return await measured(target, tasks, (times) =>
      inFlight(tasks, given.inFlight, async () => {
        await timed(times, () => client.schedule(taskMessage({ dueInMs })))
      }),
    )
  } finally {
    client.close()
  }
}

/** A foreign client that batches by itself. `inFlight`: calls. */
export async function submitBatches({
  target,
  tasks,
  dueInMs,
  size,
  ...given
}: Submit & { readonly size: number }): Promise<Measured> {
  const client = await new RawClient(target.address).ready()
  try {
    return await measured(target, tasks, (times) =>
      inFlight(Math.ceil(tasks / size), given.inFlight, async () => {
        const requests = Array.from({ length: size }, () => taskMessage({ dueInMs }))
        await timed(times, () => client.scheduleBatch(requests))
      }),
    )
  } finally {
    client.close()
  }
}

/** The SDK: one `schedule()` for each task, which gathers them by itself. */
export async function submitCoalesced({ target, tasks, dueInMs, ...given }: Submit): Promise<Measured> {
  await using client = createClient({ address: target.address })
  // connects
  await client.schedule('echo', INPUT, { delayMs: dueInMs })
  return await measured(target, tasks, (times) =>
    inFlight(tasks, given.inFlight, async () => {
      await timed(times, () => client.schedule('echo', INPUT, { delayMs: dueInMs }))
    }),
  )
}

const INPUT = { n: 1, text: 'hello world, hello world, hello world' }
