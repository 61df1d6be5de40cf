import type { JobRun } from './job-run.js'
import { workersOf } from './timeline-text.js'

const LEFT = 90
const WIDTH = 960
const TOP = 44
const ROW = 34
const BAR = 26
const AXIS = 30
const TICK_MS = 10_000
/** Told apart without colours, too: the name of the job is in its bar. */
const COLOURS = ['#4e79a7', '#f28e2b', '#59a14f', '#b07aa1', '#e15759']

/** Which worker ran which job when, as an SVG picture. */
export function svgTimeline(
  runs: readonly JobRun[],
  { spanMs, title }: { readonly spanMs: number; readonly title: string },
): string {
  const workers = workersOf(runs)
  const height = TOP + workers.length * ROW + AXIS
  const x = (ms: number): number => Math.round((LEFT + (ms / spanMs) * WIDTH) * 10) / 10
  const y = (worker: string): number => TOP + workers.indexOf(worker) * ROW
  const ticks = Array.from({ length: Math.floor(spanMs / TICK_MS) + 1 }, (_, index) => index * TICK_MS)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${LEFT + WIDTH + 30}" height="${height}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    '<rect width="100%" height="100%" fill="white"/>',
    `<text x="${LEFT}" y="24" font-size="16">${title}</text>`,
    ...ticks.flatMap((at) => [
      `<line x1="${x(at)}" y1="${TOP - 6}" x2="${x(at)}" y2="${height - AXIS + 4}" stroke="#ccc"/>`,
      `<text x="${x(at)}" y="${height - 10}" text-anchor="middle">${at / 1_000} s</text>`,
    ]),
    ...workers.map((worker) => `<text x="10" y="${y(worker) + BAR - 8}">${worker}</text>`),
    ...runs
      .filter(({ start }) => start < spanMs)
      .flatMap((run) => {
        const [left, right] = [x(run.start), x(Math.min(run.end, spanMs))]
        const colour = COLOURS[(run.job - 1) % COLOURS.length]
        return [
          `<rect x="${left}" y="${y(run.worker)}" width="${Math.max(1, Math.round((right - left) * 10) / 10)}" height="${BAR}" fill="${colour}" stroke="white"/>`,
          `<text x="${left + 4}" y="${y(run.worker) + BAR - 8}" fill="white">${run.job}</text>`,
        ]
      }),
    '</svg>',
    '',
  ].join('\n')
}
