/** What every job carries: as much as a task of `npm run bench`. */
export const payload = (dueTime) => ({ n: 1, text: 'hello world, hello world, hello world', dueTime })

/** Gathers how late starts were. */
export function latenessLog() {
  let values = []
  return {
    note(dueTime) {
      if (dueTime > 0) values.push(performance.timeOrigin + performance.now() - dueTime)
    },
    take() {
      const taken = values
      values = []
      return taken
    },
  }
}

/** Waits until a count that is asked for every `everyMs` is reached: for peers that tell nobody of results. */
export async function until(reached, everyMs) {
  while (!(await reached())) await new Promise((resolve) => setTimeout(resolve, everyMs))
}
