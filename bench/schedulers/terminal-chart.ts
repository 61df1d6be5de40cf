import { shown } from '../measure/figure.js'
import type { Line } from '../measure/chart.js'

const WIDTH = 50

/** Bars on a logarithmic scale, grouped by x: a factor of ten is everywhere the same length. */
export function terminalChart(title: string, lines: readonly Line[]): string {
  const values = lines.flatMap(({ points }) => points.map(({ y }) => y))
  const least = Math.log10(Math.min(...values)) - 0.2
  const most = Math.log10(Math.max(...values))
  const names = Math.max(...lines.map(({ label }) => label.length))
  const xs = [...new Set(lines.flatMap(({ points }) => points.map(({ x }) => x)))].toSorted((a, b) => a - b)
  const bar = (y: number): string =>
    '█'.repeat(Math.max(1, Math.round(((Math.log10(y) - least) / (most - least)) * WIDTH)))
  const groups = xs.map((x) => {
    const rows = lines.map(({ label, points }) => {
      const point = points.find((one) => one.x === x)
      return `  ${label.padEnd(names)} ${point ? `${bar(point.y)} ${shown(point.y)}` : 'not measured'}`
    })
    return [`${x.toLocaleString('en')} waiting`, ...rows].join('\n')
  })
  return [title, ...groups].join('\n')
}
