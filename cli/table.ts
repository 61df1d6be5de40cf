import Table from 'cli-table3'
import type { Terminal } from './terminal.js'

/** Rows under headings, without lines around them. Text of others must have been made printable before. */
export function showTable(
  terminal: Terminal,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const table = new Table({
    head: headings.map((heading) => terminal.colours.bold(heading)),
    chars: Object.fromEntries(EDGES.map((edge) => [edge, ''])),
    style: { 'padding-left': 0, 'padding-right': 2, head: [], border: [] },
  })
  table.push(...rows.map((row) => [...row]))
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n')
}

const EDGES = [
  'top',
  'top-mid',
  'top-left',
  'top-right',
  'bottom',
  'bottom-mid',
  'bottom-left',
  'bottom-right',
  'left',
  'left-mid',
  'mid',
  'mid-mid',
  'right',
  'right-mid',
  'middle',
]
