/** Everything that a loop gives. */
export async function collect<T>(loop: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const each of loop) all.push(each)
  return all
}

/** The task id of what a loop gives next. */
export const taskId = async (next: Promise<IteratorResult<{ taskId: string }, void>>): Promise<string> => {
  const { done, value } = await next
  return done === true ? 'the end' : value.taskId
}

/** Turns of the event loop until it is so. */
export async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await new Promise((resolve) => setImmediate(resolve))
}
