import { escaped, type Line } from '../measure/chart.js'
import { shown } from '../measure/figure.js'

const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [760, 360, 80, 150, 44, 50]
const COLOURS = ['#2f6f9f', '#d08a2e', '#5b8c5a', '#9a5b8c']
/** Readable on white and on the dark pages of code hosts. */
const INK = '#57606a'
const LABEL_GAP = 16

/** Lines over two logarithmic axes, as SVG: O(n) is a slope of one, O(log n) is nearly flat. */
export function growthChart(yName: string, xName: string, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points)
  const x = scale(
    points.map((point) => point.x),
    LEFT,
    WIDTH - RIGHT,
  )
  const y = scale(
    points.map((point) => point.y),
    HEIGHT - BOTTOM,
    TOP,
  )
  const ticks = [
    ...x.decades.map(
      (value) =>
        `<path d="M${fixed(x.at(value))} ${TOP}V${HEIGHT - BOTTOM}" stroke="${INK}" stroke-opacity="0.2"/>${text(x.at(value), HEIGHT - BOTTOM + 20, shownPower(value), 'middle')}`,
    ),
    ...y.decades.map(
      (value) =>
        `<path d="M${LEFT} ${fixed(y.at(value))}H${WIDTH - RIGHT}" stroke="${INK}" stroke-opacity="0.2"/>${text(LEFT - 8, y.at(value) + 4, shownPower(value), 'end')}`,
    ),
  ]
  const labels = spreadOut(lines.map(({ points: of }) => y.at(of.at(-1)?.y ?? 1)))
  const drawn = lines.map(({ label, points: of }, i) => {
    const colour = COLOURS[i % COLOURS.length] ?? INK
    const path = of.map((point) => `${fixed(x.at(point.x))} ${fixed(y.at(point.y))}`).join('L')
    const dots = of.map(
      (point) =>
        `<circle cx="${fixed(x.at(point.x))}" cy="${fixed(y.at(point.y))}" r="4" fill="${colour}"><title>${escaped(`${label}, ${point.x}: ${shown(point.y)}`)}</title></circle>`,
    )
    return `<path d="M${path}" fill="none" stroke="${colour}" stroke-width="2.5"/>${dots.join('')}${text(WIDTH - RIGHT + 12, (labels[i] ?? 0) + 4, label, 'start', colour)}`
  })
  const heading = text(LEFT, 24, `${yName} over ${xName}, both logarithmic`, 'start')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="system-ui, sans-serif" font-size="13">\n${[heading, ...ticks, ...drawn].join('\n')}\n</svg>\n`
}

function scale(values: readonly number[], from: number, to: number) {
  const least = Math.floor(Math.log10(Math.min(...values)))
  const most = Math.max(least + 1, Math.ceil(Math.log10(Math.max(...values))))
  return {
    at: (value: number) => from + ((Math.log10(value) - least) / (most - least)) * (to - from),
    decades: Array.from({ length: most - least + 1 }, (_, i) => 10 ** (least + i)),
  }
}

/** Heights of labels, moved apart where lines end close together. */
function spreadOut(heights: readonly number[]): number[] {
  const placed = [...heights]
  const order = heights.map((_, i) => i).toSorted((a, b) => (heights[a] ?? 0) - (heights[b] ?? 0))
  let last = -Infinity
  for (const i of order) {
    last = Math.max(heights[i] ?? 0, last + LABEL_GAP)
    placed[i] = last
  }
  return placed
}

const shownPower = (value: number): string => (value < 1 ? String(value) : value.toLocaleString('en'))

function text(x: number, y: number, said: string, anchor: string, colour = INK): string {
  return `<text x="${fixed(x)}" y="${fixed(y)}" text-anchor="${anchor}" fill="${colour}">${escaped(said)}</text>`
}

const fixed = (value: number): string => value.toFixed(1)
