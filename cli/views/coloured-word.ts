import type { Colours } from '../terminal.js'

/** A word in the colour of how good it is. */
export function colouredWord(colours: Colours, word: string): string {
  const shown = word.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
  switch (word) {
    case 'succeeded':
      return colours.green(shown)
    case 'failed':
    case 'timedOut':
      return colours.red(shown)
    case 'running':
      return colours.cyan(shown)
    case 'cancelled':
    case 'expired':
    case 'skipped':
      return colours.yellow(shown)
    default:
      return shown
  }
}
