import { quoted } from './recurrence-error.js'

const MACROS: Readonly<Record<string, string>> = {
  '@yearly': '"0 0 1 1 *"',
  '@annually': '"0 0 1 1 *"',
  '@monthly': '"0 0 1 * *"',
  '@weekly': '"0 0 * * 0"',
  '@daily': '"0 0 * * *"',
  '@midnight': '"0 0 * * *"',
  '@hourly': '"0 * * * *"',
  '@reboot': 'a one-shot task when your service starts',
  '@every': 'the recurrence `every`, with a duration, instead of `cron`',
}

/** Why an expression that is no list of fields at all is refused, or undefined when it looks like one. */
export function explainWholeExpression(expression: string): string | undefined {
  const first = expression.split(/[ \t]/, 1)[0] ?? ''
  if (first.startsWith('@')) {
    const instead = MACROS[first.toLowerCase()]
    return `${quoted(first)} is not accepted: write ${instead ?? 'the fields'}`
  }
  if (/^(CRON_)?TZ=/i.test(first))
    return `${quoted(first)} does not belong here: the zone has a field of its own, time_zone`
  return undefined
}

/** Why an item that is neither `*`, value, range nor step is refused, and what to write instead. */
export function explainCronItem(
  kind: {
    readonly name: string
    readonly min: number
    readonly max: number
    readonly names?: readonly string[]
  },
  item: string,
): string {
  const shown = quoted(item)
  if (item.includes('?')) return `${shown}: "?" is not accepted, write "*"`
  if (item.includes('#'))
    return `${shown}: "#" (n-th weekday of the month) is not accepted: run on each such weekday and let the handler look at the date`
  if (
    /^(?:L|LW|L-[0-9]+|[0-9]+L|[A-Z]{3}L)$/i.test(item) &&
    !(kind.names ?? []).includes(item.toUpperCase())
  ) {
    const instead = kind.name === 'day of week' ? 'run on each such weekday' : 'write 28-31'
    return `${shown}: "L" (last) is not accepted: ${instead} and let the handler look at the date`
  }
  if (/^[0-9]+W$|^W$/i.test(item))
    return `${shown}: "W" (nearest weekday) is not accepted: write MON-FRI as day of week`
  if (/^H(?:\(|\/|$)/.test(item))
    return `${shown}: "H" is not accepted: use the recurrence field \`jitter\` to spread tasks`
  if (/\/-/.test(item)) return `the step of ${shown} is negative: a step is at least 1`
  const names = kind.names ? ` or a name (${kind.names[0]}-${kind.names.at(-1)})` : ''
  return `${shown} is not understood: write *, a number (${kind.min}-${kind.max})${names}, a range a-b, a step */n or a-b/n, or a list of them`
}
