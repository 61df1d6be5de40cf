import Table from 'cli-table3'
import type { Summary } from './summary.js'

const COLUMNS = ['count', 'mean', 'median', 'min', 'max', 'p95', 'p99'] as const

/** Summaries of milliseconds side by side, one a row. */
export function summaryTable(rows: Readonly<Record<string, Summary>>): string {
  const summaries = Object.entries(rows)
  const columns = COLUMNS.filter((column) => summaries.some(([, summary]) => summary[column] !== undefined))
  const table = new Table({
    head: ['ms', ...columns],
    colAligns: ['left', ...columns.map(() => 'right' as const)],
    style: { head: [], border: [] },
  })
  for (const [name, summary] of summaries)
    table.push([name, ...columns.map((column) => cell(column, summary))])
  return table.toString()
}

function cell(column: (typeof COLUMNS)[number], summary: Summary): string {
  const value = summary[column]
  if (value === undefined) return ''
  return column === 'count' ? String(value) : value.toFixed(2)
}
