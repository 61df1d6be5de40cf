import { escaped } from '../measure/chart.js'
import { quantile } from '../measure/spread.js'
import { type Sample, SERIES, type SeriesName } from './sample.js'

const WIDTH = 760
const LEFT = 70
const RIGHT = 20
const PANEL = 110
const TOP = 40
const POINTS = 300
/** Readable on white and on the dark pages of code hosts. */
const INK = '#57606a'
const LINE = '#2f6f9f'
const BARS = '▁▂▃▄▅▆▇█'

/** One panel for each series, from 0, over the minutes of the run; its thirds are marked. */
export function flatnessChart(title: string, samples: readonly Sample[]): string {
  const height = TOP + SERIES.length * PANEL + 20
  const panels = SERIES.map(({ name, unit }, i) => panel(name, unit, samples, TOP + i * PANEL))
  const head = label(LEFT, 22, title, 'start', 'bold')
  const minutes = ((samples.at(-1)?.at ?? 0) / 60).toFixed(1)
  const foot = `${label(LEFT, height - 6, '0 min', 'start')}${label(WIDTH - RIGHT, height - 6, `${minutes} min`, 'end')}`
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="system-ui, sans-serif" font-size="12">\n${head}\n${panels.join('\n')}\n${foot}\n</svg>\n`
}

/** A series as one line of bars, from 0 to its largest. */
export function sparkline(name: SeriesName, samples: readonly Sample[], columns = 60): string {
  const values = thinned(samples, columns).map(({ values: all }) => all[name])
  const most = Math.max(...values.filter((value) => !Number.isNaN(value)), Number.MIN_VALUE)
  return values
    .map((value) =>
      Number.isNaN(value) ? ' ' : (BARS[Math.round((value / most) * (BARS.length - 1))] ?? ' '),
    )
    .join('')
}

function panel(name: SeriesName, unit: string, samples: readonly Sample[], top: number): string {
  const points = thinned(samples, POINTS).filter(({ values }) => !Number.isNaN(values[name]))
  const last = samples.at(-1)?.at ?? 1
  const sorted = points.map(({ values }) => values[name]).toSorted((a, b) => a - b)
  // one odd second must not press all others flat
  const most = Math.max(quantile(sorted, 0.99) * 1.3 || 1, Number.MIN_VALUE)
  const x = (at: number): string => (LEFT + (at / last) * (WIDTH - LEFT - RIGHT)).toFixed(1)
  const y = (value: number): string =>
    (top + PANEL - 25 - Math.min(1, value / most) * (PANEL - 45)).toFixed(1)
  const path = points.map(({ at, values }, i) => `${i === 0 ? 'M' : 'L'}${x(at)} ${y(values[name])}`).join('')
  const thirds = [last / 3, (2 * last) / 3].map(
    (at) =>
      `<path d="M${x(at)} ${top + 18}V${top + PANEL - 25}" stroke="${INK}" stroke-opacity="0.3" stroke-dasharray="3 3"/>`,
  )
  return [
    label(LEFT, top + 12, `${name} (${unit})`, 'start', 'bold'),
    label(LEFT - 6, top + 26, shown(most), 'end'),
    label(LEFT - 6, top + PANEL - 22, '0', 'end'),
    `<path d="M${LEFT} ${top + PANEL - 25}H${WIDTH - RIGHT}" stroke="${INK}" stroke-opacity="0.4"/>`,
    ...thirds,
    `<path d="${path}" fill="none" stroke="${LINE}" stroke-width="1.5"/>`,
  ].join('')
}

/** At most so many samples, each the middle of its stretch by place. */
function thinned(samples: readonly Sample[], most: number): readonly Sample[] {
  if (samples.length <= most) return samples
  return Array.from(
    { length: most },
    (_, i) => samples[Math.floor(((i + 0.5) * samples.length) / most)],
  ).filter((one) => one !== undefined)
}

function label(x: number, y: number, text: string, anchor: string, weight = 'normal'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" font-weight="${weight}" fill="${INK}">${escaped(text)}</text>`
}

const shown = (value: number): string => (value < 10 ? value.toFixed(1) : String(Math.round(value)))
