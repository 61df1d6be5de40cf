/** What of a recurrence cannot be accepted: `field` is its proto name (`cron`, `time_zone`, `every`, …), the message says what would be right. */
export class RecurrenceError extends Error {
  override readonly name = 'RecurrenceError'
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/**
 * A caller's text, safe to repeat in a message: quoted, one line, plain ASCII, at most 40 characters of it.
 *
 * @example quoted('5x\n') // '"5x\\n"'
 */
export function quoted(text: string): string {
  const cut = text.length > 40 ? `${text.slice(0, 40)}…` : text
  return JSON.stringify(cut).replace(
    /[^\x20-\x7e…]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
