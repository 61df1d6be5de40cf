import { inFlight, type Measured, measured, type Target, timed } from './measured.js'
import { RawClient, taskMessage } from './raw-client.js'

interface Cancel {
  readonly target: Target
  readonly tasks: number
  readonly inFlight: number
  readonly dueInMs: number
}

/** Scheduling and cancelling the same waiting tasks, with the same calls. */
export interface Cancelled {
  readonly scheduled: Measured
  readonly cancelled: Measured
}

/** In batches: `ScheduleBatch`, then `CancelBatch`. */
export async function cancelBatches({
  target,
  tasks,
  size,
  dueInMs,
  ...given
}: Cancel & { readonly size: number }): Promise<Cancelled> {
  const client = await new RawClient(target.address).ready()
  const batches: string[][] = []
  const count = Math.ceil(tasks / size)
  try {
    const scheduled = await measured(target, tasks, () =>
      inFlight(count, given.inFlight, async (index) => {
        const { answers } = await client.scheduleBatch(
          Array.from({ length: size }, () => taskMessage({ dueInMs })),
        )
        batches[index] = answers.map(({ id }) => id)
      }),
    )
    const cancelled = await measured(target, tasks, () =>
      inFlight(count, given.inFlight, async (index) => {
        const { answers } = await client.cancelBatch(batches[index] ?? [])
        const refused = answers.find(({ error }) => error)
        if (refused) throw new Error(`not cancelled: ${refused.error?.message}`)
      }),
    )
    return { scheduled, cancelled }
  } finally {
    client.close()
  }
}

/** One by one: `Schedule`, then `Cancel`. */
export async function cancelOneByOne({ target, tasks, dueInMs, ...given }: Cancel): Promise<Cancelled> {
  const client = await new RawClient(target.address).ready()
  const ids: string[] = []
  try {
    const scheduled = await measured(target, tasks, (times) =>
      inFlight(tasks, given.inFlight, async (index) => {
        const { task } = await timed(times, () => client.schedule(taskMessage({ dueInMs })))
        ids[index] = task?.spec?.id ?? ''
      }),
    )
    const cancelled = await measured(target, tasks, (times) =>
      inFlight(tasks, given.inFlight, (index) => timed(times, () => client.cancel(ids[index] ?? ''))),
    )
    return { scheduled, cancelled }
  } finally {
    client.close()
  }
}
