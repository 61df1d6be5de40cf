import { escaped } from '../measure/chart.js'
import { placeOf } from './stages.js'
import { type Frame, type ThreadProfile, totalOf } from './thread-profile.js'

const WIDTH = 1_400
const ROW = 17
/** Narrower than this nobody can see it. */
const LEAST_WIDTH = 0.8
const CHARACTER = 6.2

/** A flame graph: the wider, the more time (or bytes); what stands on a function was called by it. Point at a box to read it whole. */
export function flameGraph({ thread, root, total }: ThreadProfile, unit: string): string {
  const boxes: string[] = []
  let deepest = 0
  const draw = (frame: Frame, depth: number, x: number): void => {
    const sum = totalOf(frame)
    const width = (sum / total) * WIDTH
    if (width < LEAST_WIDTH) return
    deepest = Math.max(deepest, depth)
    boxes.push(box(frame, { depth, x, width, share: sum / total }))
    let at = x
    const calls = [...frame.calls.values()]
      .map((call) => ({ call, sum: totalOf(call) }))
      .toSorted((a, b) => b.sum - a.sum)
    for (const { call, sum: own } of calls) {
      draw(call, depth + 1, at)
      at += (own / total) * WIDTH
    }
  }
  draw(root, 0, 0)
  const height = (deepest + 1) * ROW + 40
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" font-family="ui-monospace, monospace" font-size="10.5">`,
    `<rect width="100%" height="100%" fill="#ffffff"/>`,
    `<text x="8" y="20" font-size="14">${escaped(`${thread}: ${unit}`)}</text>`,
    `<g transform="translate(0 32)">`,
    ...boxes,
    '</g></svg>\n',
  ].join('\n')
}

interface Place {
  readonly depth: number
  readonly x: number
  readonly width: number
  readonly share: number
}

function box(frame: Frame, { depth, x, width, share }: Place): string {
  const fits = Math.floor((width - 4) / CHARACTER)
  const label = fits < 3 ? '' : escaped(frame.name.slice(0, fits))
  const title = escaped(`${placeOf(frame)} (${(share * 100).toFixed(1)} %)`)
  const y = depth * ROW
  return `<g><title>${title}</title><rect x="${x.toFixed(1)}" y="${y}" width="${Math.max(0.5, width - 0.4).toFixed(1)}" height="${ROW - 1}" fill="${colour(frame)}" rx="1"/><text x="${(x + 2).toFixed(1)}" y="${y + 12}">${label}</text></g>`
}

/** Ours warm, packages in green, Node and V8 grey. */
function colour({ url }: Frame): string {
  if (url === '' || url.startsWith('node:')) return '#d5d9dd'
  if (url.includes('node_modules')) return '#b9d8b4'
  return '#f3c98b'
}
