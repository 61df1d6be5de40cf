const WIDTH = 30

/** `copying  ███████────────  23 %`. */
export function progressLine(what: string, done: number): string {
  const full = Math.round(Math.min(1, Math.max(0, done)) * WIDTH)
  return `${what}  ${'█'.repeat(full)}${'─'.repeat(WIDTH - full)}  ${Math.floor(done * 100)} %`
}
