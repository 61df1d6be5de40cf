import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { PRESETS, type PresetName } from '../../server/scheduler/presets.js'
import { shown, shownSpread } from '../measure/figure.js'
import { loadAverage, machineLine, thisMachine } from '../measure/machine.js'
import { markdownTable } from '../measure/report-table.js'
import type { Spread } from '../measure/spread.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { type Behaviour, behaviourOf } from './behaviour.js'
import { dispatchCost, type Effort } from './dispatch-cost.js'
import { growthChart } from './growth-chart.js'
import { terminalChart } from './terminal-chart.js'

/**
 * npm run bench:schedulers -- [--smoke] [--out DIR]
 *
 * The four classic designs side by side: what a dispatch costs as more tasks wait, and what each does, counted on the virtual clock.
 * --smoke: small and once, to see that it works; kept only with --out.
 */
const { values: args } = parseArgs({
  options: { smoke: { type: 'boolean', default: false }, out: { type: 'string' } },
})
const waiting = args.smoke ? [100, 1_000] : [100, 1_000, 10_000, 100_000, 1_000_000]
const effort: Effort = args.smoke
  ? { rounds: 1, roundMs: 50, mostDispatches: 1_000 }
  : { rounds: 5, roundMs: 200, mostDispatches: 20_000 }
/** Until the code is compiled. */
const WARM_UP: Effort = { rounds: args.smoke ? 1 : 5, roundMs: 150, mostDispatches: 20_000 }

interface Row {
  readonly scheduler: PresetName
  readonly behaviour: Behaviour
  readonly costUs: readonly { readonly waiting: number; readonly us: Spread }[]
}

const machine = thisMachine(BENCH_FOLDER)
console.log(machineLine(machine))
const rows: Row[] = []
for (const scheduler of Object.keys(PRESETS) as PresetName[]) {
  const behaviour = await behaviourOf(scheduler)
  dispatchCost(PRESETS[scheduler], 100, WARM_UP)
  const costUs = waiting.map((count) => ({
    waiting: count,
    us: dispatchCost(PRESETS[scheduler], count, effort),
  }))
  rows.push({ scheduler, behaviour, costUs })
  console.log(`  ${scheduler}: measured, load average ${loadAverage()}`)
}

const costs = markdownTable(
  ['CPU µs a dispatch, waiting:', ...waiting.map((count) => count.toLocaleString('en'))],
  rows.map(({ scheduler, costUs }) => [scheduler, ...costUs.map(({ us }) => shownSpread(us))]),
)
const behaviours = markdownTable(
  [
    'on the virtual clock',
    'idle wake-ups/min',
    'late ms p50',
    'p99',
    'most',
    'at once (thread, shared at most)',
    'burst done after',
  ],
  rows.map(({ scheduler, behaviour: { idleWakesPerMinute, lateMs, atOnce, allDoneMs } }) => [
    scheduler,
    String(idleWakesPerMinute),
    shown(lateMs.p50),
    shown(lateMs.p99),
    shown(lateMs.most),
    `${atOnce.inAll} (${atOnce.thread}, ${atOnce.shared})`,
    `${(allDoneMs / 1_000).toFixed(1)} s`,
  ]),
)
const lines = rows.map(({ scheduler, costUs }) => ({
  label: scheduler,
  points: costUs.map((cost) => ({ x: cost.waiting, y: cost.us.median })),
}))
console.log(`\n${costs}\n\n${behaviours}\n\n${terminalChart('CPU µs a dispatch (logarithmic)', lines)}`)

if (args.out !== undefined || !args.smoke) {
  const folder = args.out ?? fileURLToPath(new URL('../results/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  writeFileSync(
    join(folder, 'schedulers.json'),
    `${JSON.stringify({ machine, load: loadAverage(), rows }, rounded, 1)}\n`,
  )
  writeFileSync(join(folder, 'schedulers.svg'), growthChart('CPU µs a dispatch', 'waiting tasks', lines))
  console.log(`\nwritten to ${folder}`)
}

function rounded(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
