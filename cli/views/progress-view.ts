const WIDTH = 30

/**
 * `copying  ███████────────  23 %`.
 *
 * @param done - From 0 to 1; undefined = nobody knows how much there is.
 */
export function progressLine(what: string, done: number | undefined): string {
  if (done === undefined) return what
  const full = Math.round(Math.min(1, Math.max(0, done)) * WIDTH)
  return `${what}  ${'█'.repeat(full)}${'─'.repeat(WIDTH - full)}  ${Math.floor(done * 100)} %`
}
