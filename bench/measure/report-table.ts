import { type Figure, shown, shownSpread } from './figure.js'
import type { Spread } from './spread.js'

const HEAD = [
  'measured',
  'median (least–most)',
  'ceiling in the same run',
  'ratio',
  'server µs',
  'of it main',
  'client µs',
  'also',
]

/** Figures as a Markdown table, a heading for each scenario. */
export function reportTable(figures: readonly Figure[]): string {
  const titles = [...new Set(figures.map(({ scenario }) => scenario))]
  const of = (title: string): Figure[] => figures.filter(({ scenario }) => scenario === title)
  return titles.map((title) => `### ${title}\n\n${markdownTable(HEAD, of(title).map(row))}`).join('\n\n')
}

/** A Markdown table with aligned columns. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((cells) => cells[i]?.length ?? 0)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join(
    '\n',
  )
}

function row(figure: Figure): string[] {
  const { name, unit, value, ceiling, serverUs, serverMainUs, clientUs, also } = figure
  return [
    name,
    `${shownSpread(value)} ${unit}`,
    ceiling ? `${ceiling.name}: ${shown(ceiling.value.median)}` : '',
    ceiling ? `${shown(ceiling.ratio.median)}x` : '',
    median(serverUs),
    median(serverMainUs),
    median(clientUs),
    Object.entries(also ?? {})
      .map(([what, much]) => `${what} ${shown(much)}`)
      .join(', '),
  ]
}

const median = (spread: Spread | undefined): string => (spread ? shown(spread.median) : '')
