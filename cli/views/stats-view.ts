import type { LatencyStats, ServerStats } from '../../client/index.js'
import { printable } from '../printable.js'
import { showDuration } from '../relative-time.js'
import { showTable } from '../table.js'
import type { Terminal } from '../terminal.js'
import { colouredWord } from './coloured-word.js'
import { consumersView } from './consumers-view.js'

const PERIODS: Readonly<Record<string, string>> = {
  minute: 'last minute',
  hour: 'last hour',
  start: 'since start',
}

/** What a server says of itself, in blocks. */
export function statsView(stats: ServerStats, terminal: Terminal): string {
  const blocks = [
    findings(stats, terminal),
    states(stats, terminal),
    outcomes(stats, terminal),
    latency('late', stats.lateness, terminal),
    latency('waited', stats.wait, terminal),
    latency('took', stats.duration, terminal),
    consumers(stats, terminal),
    footer(stats, terminal),
  ]
  return blocks.filter((block) => block !== '').join('\n\n')
}

function findings({ findings: found }: ServerStats, { colours }: Terminal): string {
  return found.map(({ kind, message }) => colours.red(`! ${kind}: ${printable(message)}`)).join('\n')
}

function states(stats: ServerStats, { colours }: Terminal): string {
  const tasks = Object.entries(stats.states).map(
    ([state, count]) => `${colouredWord(colours, state)} ${number(count)}`,
  )
  const slots = stats.lanes.map(({ lane, slots: all, busy }) => `${lane} ${busy}/${all}`)
  return [
    `${colours.bold('tasks')}  ${tasks.join('   ')}`,
    `${colours.bold('slots')}  ${slots.join('   ')}   due and waiting ${number(stats.dueWaiting)}`,
  ].join('\n')
}

function outcomes({ outcomes: all }: ServerStats, terminal: Terminal): string {
  if (all.length === 0) return ''
  const rows = all.map(({ handler, outcome, count }) => [
    printable(handler),
    colouredWord(terminal.colours, outcome),
    number(count),
  ])
  return showTable(terminal, ['handler', 'outcome', 'results'], rows)
}

function latency(name: string, all: readonly LatencyStats[], terminal: Terminal): string {
  const known = all.filter(({ count }) => count > 0)
  if (known.length === 0) return ''
  const rows = known.map(({ period, count, meanMs, p50Ms, p95Ms, p99Ms, maxMs }) => {
    const ms = [meanMs, p50Ms, p95Ms, p99Ms, maxMs]
    return [PERIODS[period] ?? printable(period), number(count)].concat(ms.map(showDuration))
  })
  return showTable(terminal, [name, 'count', 'mean', 'median', 'p95', 'p99', 'max'], rows)
}

function consumers({ consumers: all }: ServerStats, terminal: Terminal): string {
  return all.length === 0 ? '' : consumersView(all, terminal)
}

function footer({ store, startTime, openStreams }: ServerStats, { colours, now }: Terminal): string {
  const parts = [
    store && `store ${bytes(store.bytes)} of ${bytes(store.maxBytes)}, ${number(store.logEntries)} results`,
    store?.available === false ? colours.red('the store cannot commit') : undefined,
    `${number(openStreams)} open ${openStreams === 1 ? 'stream' : 'streams'}`,
    startTime && `up ${showDuration(now() - startTime.getTime())}`,
  ]
  return parts.filter((part) => part !== undefined).join('   ')
}

/** 1,234,567 */
const number = (value: number): string => value.toLocaleString('en-US')

function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(Math.max(1, value)) / 10)))
  const amount = value / 2 ** (10 * power)
  return `${amount < 10 && power > 0 ? amount.toFixed(1) : Math.round(amount)} ${units[power]}`
}
