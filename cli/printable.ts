// a task's label or an error's text must not move the cursor, colour the screen or begin a line of its own
// oxlint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g

/** Text of others, safe to print on one line: control characters are shown, not obeyed. */
export function printable(text: string): string {
  return text.replaceAll(CONTROL, (character) => {
    const named = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }[character]
    return named ?? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** Cut to a width, marked. */
export const fit = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`
