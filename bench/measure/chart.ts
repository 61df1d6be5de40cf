import { shown } from './figure.js'
import type { Spread } from './spread.js'

const WIDTH = 760
const LABELS = 270
const ROW = 30
const TOP = 44
const COLOURS = ['#2f6f9f', '#d08a2e', '#5b8c5a', '#9a5b8c', '#777777']
/** Readable on white and on the dark pages of code hosts. */
const INK = '#57606a'

/** One bar: what it is, how long, and the mark to compare it with. */
export interface Bar {
  readonly label: string
  readonly value: Spread
  /** Drawn as a line across the bar's end: its ceiling. */
  readonly mark?: number
  /** Which colour: bars of one kind share it. */
  readonly kind?: number
}

/** Horizontal bars with their spread, as SVG. */
export function barChart(title: string, unit: string, bars: readonly Bar[]): string {
  const most = Math.max(...bars.flatMap(({ value, mark }) => [value.most, mark ?? 0]), Number.MIN_VALUE)
  const x = (value: number): number => LABELS + (value / most) * (WIDTH - LABELS - 90)
  const rows = bars.map(({ label, value, mark, kind = 0 }, i) => {
    const y = TOP + i * ROW
    const middle = y + ROW / 2 - 4
    const colour = COLOURS[kind % COLOURS.length]
    const right = Math.max(x(value.most), mark === undefined ? 0 : x(mark)) + 8
    return [
      text(LABELS - 10, middle + 4, label, 'end'),
      `<rect x="${LABELS}" y="${y}" width="${fixed(x(value.median) - LABELS)}" height="${ROW - 10}" rx="2" fill="${colour}"/>`,
      `<path d="M${fixed(x(value.least))} ${middle}H${fixed(x(value.most))}" stroke="${INK}" stroke-width="2"/>`,
      mark === undefined
        ? ''
        : `<path d="M${fixed(x(mark))} ${y - 3}v${ROW - 4}" stroke="#b3261e" stroke-width="2.5"/>`,
      text(right, middle + 4, shown(value.median), 'start', 'bold'),
    ].join('')
  })
  const marked = bars.some(({ mark }) => mark !== undefined) ? '; red: ceiling in the same run' : ''
  return svg(
    TOP + bars.length * ROW + 6,
    `${text(LABELS, 24, `${title} (${unit}${marked})`, 'start', 'bold')}${rows.join('\n')}`,
  )
}

/** One line of a {@link lineChart}. */
export interface Line {
  readonly label: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

/** Lines over a logarithmic x-axis, from y = 0, as SVG. */
export function lineChart(title: string, xName: string, lines: readonly Line[]): string {
  const height = 300
  const points = lines.flatMap((line) => line.points)
  const xs = [...new Set(points.map((point) => point.x))].toSorted((a, b) => a - b)
  const [first = 1] = xs
  const last = xs.at(-1) ?? first
  const most = Math.max(...points.map((point) => point.y), Number.MIN_VALUE) * 1.1
  const span = Math.log(last / first) || 1
  const x = (value: number): number => 90 + (Math.log(value / first) / span) * (WIDTH - 320)
  const y = (value: number): number => height - 40 - (value / most) * (height - 90)
  const grid = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const at = fixed(y(most * part))
    return `<path d="M80 ${at}H${WIDTH - 220}" stroke="${INK}" stroke-opacity="0.25"/>${text(72, Number(at) + 4, shown(most * part), 'end')}`
  })
  const ticks = xs.map((value) => text(x(value), height - 18, shown(value), 'middle'))
  const drawn = lines.map((line, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? INK
    const path = line.points
      .map((point, n) => `${n === 0 ? 'M' : 'L'}${fixed(x(point.x))} ${fixed(y(point.y))}`)
      .join('')
    const dots = line.points.map(
      (point) => `<circle cx="${fixed(x(point.x))}" cy="${fixed(y(point.y))}" r="4" fill="${colour}"/>`,
    )
    const end = line.points.at(-1)
    const name = end ? text(x(end.x) + 12, y(end.y) + 4, line.label, 'start', 'normal', colour) : ''
    return `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2.5"/>${dots.join('')}${name}`
  })
  const heading = text(80, 24, `${title} (over ${xName})`, 'start', 'bold')
  return svg(height, [heading, ...grid, ...ticks, ...drawn].join('\n'))
}

function svg(height: number, body: string): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="13">\n${body}\n</svg>\n`
}

function text(x: number, y: number, said: string, anchor: string, weight = 'normal', colour = INK): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" font-weight="${weight}" fill="${colour}">${escaped(said)}</text>`
}

/** Texts of an SVG. */
export const escaped = (said: string): string =>
  said.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const fixed = (value: number): string => value.toFixed(1)
