import Table from 'cli-table3'
import pc from 'picocolors'
import type { Verdict } from './checks.js'

const BAR = 30
const SHOWN = 10

/** How far it is, in one line that stays in its place on a terminal. */
export function showProgress(done: number, all: number, text: string): void {
  const full = Math.round((BAR * done) / all)
  const line = `${'█'.repeat(full)}${'░'.repeat(BAR - full)} ${done}/${all}  ${text}`
  if (process.stdout.isTTY) process.stdout.write(`\r\u001b[2K${line}${done === all ? '\n' : ''}`)
  else if (done % Math.ceil(all / 10) === 0) console.log(line)
}

/** What was survived. */
export function faultTable(faults: ReadonlyMap<string, number>): string {
  const table = plainTable(['fault', 'times'])
  for (const [name, times] of faults) table.push([name, String(times)])
  return table.toString()
}

/** What was promised, on how much it was tried, and whether it held. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const table = plainTable(['promise', 'checked', 'held'])
  for (const { promise, checked, broken } of verdicts)
    table.push([
      promise,
      String(checked),
      broken.length === 0 ? pc.green('yes') : pc.red(`${broken.length} broken`),
    ])
  return table.toString()
}

/** What broke, by promise. */
export function brokenPromises(verdicts: readonly Verdict[]): readonly string[] {
  return verdicts.flatMap(({ promise, broken }) => [
    ...broken.slice(0, SHOWN).map((wrong) => `${promise}: ${wrong}`),
    ...(broken.length > SHOWN ? [`${promise}: and ${broken.length - SHOWN} more`] : []),
  ])
}

function plainTable(head: string[]): Table.Table {
  return new Table({ head, style: { head: [], border: [] } })
}
