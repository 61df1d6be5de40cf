import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { barChart } from '../measure/chart.ts'
import { shown, shownSpread } from '../measure/figure.ts'
import { loadAverage, machineLine, thisMachine } from '../measure/machine.ts'
import { markdownTable } from '../measure/report-table.ts'
import { quantile, ratioOf, spreadOf } from '../measure/spread.ts'
import { BENCH_FOLDER } from '../processes/bench-folder.ts'
import { startContenders } from './contenders.mjs'

/**
 * npm run bench:peers -- [--smoke] [--rounds N] [--jobs N] [--only name,…]
 *
 * The same work on everybody: submit (one by one, in bulk), run to a known result, start on time. Each has its turn in every round, with a worker process and a client
 * process of its own; the ratio to Punctual is that of the same round.
 */
const { values: args } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    jobs: { type: 'string' },
    only: { type: 'string' },
    out: { type: 'string' },
  },
})
const rounds = Number(args.rounds ?? (args.smoke ? 1 : 3))
const jobs = Number(args.jobs ?? (args.smoke ? 1_000 : 20_000))
const seconds = args.smoke ? 1 : 10
const MEASURES = [
  ['submitOne', 'submit one by one, 64 in flight', 'jobs/s'],
  ['submitBulk', 'submit in bulk', 'jobs/s'],
  ['drainOne', 'one by one to known results', 'jobs/s'],
  ['drainBulk', 'in bulk to known results', 'jobs/s'],
  ['latenessP50', 'start after the due time, p50', 'ms'],
  ['latenessP99', 'start after the due time, p99', 'ms'],
]

const machine = thisMachine(BENCH_FOLDER)
console.log(machineLine(machine))
const { contenders, stop } = await startContenders()
const chosen = contenders.filter(
  ({ name }) => args.only === undefined || args.only.split(',').some((part) => name.includes(part)),
)
const told = new Map(chosen.map(({ name }) => [name, Object.fromEntries(MEASURES.map(([key]) => [key, []]))]))
const loads = []
try {
  for (let round = 0; round < rounds; round++)
    for (const contender of chosen) await takeTurn(contender, round)
} finally {
  await stop()
}

const [first] = chosen
const own = told.get(first?.name ?? '')
const text = [
  '# Beside its peers',
  'Made by `npm run bench:peers`. ' +
    machineLine(machine) +
    `. Load average while it ran: ${Math.min(...loads)}–${Math.max(...loads)}.`,
  `${rounds === 1 ? 'One round' : `Medians of ${rounds} rounds`}, with a turn for everybody, and how many times Punctual is better, from the same rounds. A client, a worker and a server process each, on the same ${machine.cores} cores; ${jobs.toLocaleString('en')} jobs of about 70 bytes a measurement (slow settings: fewer); lateness of 200 jobs/s at random moments of ${seconds} s. Punctual's submissions are its SDK (one by one) and batches of 256; the others' bulk calls carry 1,000. Graphile Worker and pg-boss tell nobody of results: the client asks the table every 100 ms.`,
  ...MEASURES.map(
    ([key, title, unit]) => `## ${title}\n\n${tableOf(key, unit)}\n\n![${title}](peers-${key}.svg)`,
  ),
  '',
].join('\n\n')
console.log(`\n${text}`)
if (!args.smoke || args.out) {
  const folder = args.out ?? fileURLToPath(new URL('../results/', import.meta.url))
  writeFileSync(`${folder}/peers.md`, text)
  writeFileSync(
    `${folder}/peers.json`,
    `${JSON.stringify({ machine, rounds, jobs, told: Object.fromEntries(told) }, rounded, 1)}\n`,
  )
  for (const [key, title, unit] of MEASURES) {
    const bars = [...told].map(([name, values]) => ({
      label: name,
      value: spreadOf(values[key]),
      kind: name === first?.name ? 1 : 0,
    }))
    writeFileSync(`${folder}/peers-${key}.svg`, barChart(title, unit, bars))
  }
}

async function takeTurn(contender, round) {
  const count = Math.max(64, Math.round(jobs * contender.share))
  const values = told.get(contender.name)
  await contender.turn(async (turn) => {
    // compiled and connected
    await turn.drainBulk(Math.min(count, contender.share === 1 ? Math.max(count, 5_000) : count))
    for (const key of ['submitOne', 'submitBulk', 'drainOne', 'drainBulk'])
      values[key].push(await turn[key](count))
    const late = await turn.lateness(200 * seconds, seconds)
    values.latenessP50.push(Array.isArray(late) ? p(late, 0.5) : late.p50Ms)
    values.latenessP99.push(Array.isArray(late) ? p(late, 0.99) : late.p99Ms)
  })
  loads.push(loadAverage())
  console.log(
    `${round + 1}/${rounds} ${contender.name}: ${MEASURES.map(([key]) => `${key} ${shown(values[key].at(-1))}`).join(', ')}`,
  )
}

function p(values, share) {
  return quantile(
    values.toSorted((a, b) => a - b),
    share,
  )
}

function tableOf(key, unit) {
  const better = (values) => (unit === 'ms' ? ratioOf(values, own[key]) : ratioOf(own[key], values))
  const rows = chosen.map(({ name, durable }) => {
    const values = told.get(name)[key]
    return [
      name,
      durable,
      shownSpread(spreadOf(values)),
      name === first?.name ? '' : `${shown(better(values).median)}x`,
    ]
  })
  return markdownTable(['', 'acknowledged = durable?', unit, 'Punctual is better by'], rows)
}

function rounded(_, value) {
  return typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
}
