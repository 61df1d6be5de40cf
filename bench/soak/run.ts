import Table from 'cli-table3'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { machineLine, thisMachine } from '../measure/machine.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { ServerProcess } from '../processes/server-process.js'
import { flatness, MAX_RATIO } from './flatness.js'
import { flatnessChart, sparkline } from './flatness-chart.js'
import { type Sample, sample } from './sample.js'
import { SoakLoad } from './soak-load.js'

/**
 * npm run soak -- [--minutes 30] [--rate 200] [--out DIR]
 *
 * One server under the same load for a long time: memory, open files, threads, the write-ahead log and lateness must not grow. Ends with 1 when one does.
 * With --out the samples and a chart are kept there.
 */
const { values: args } = parseArgs({
  options: {
    minutes: { type: 'string', default: '30' },
    rate: { type: 'string', default: '200' },
    out: { type: 'string' },
  },
})
const minutes = Number(args.minutes)
const rate = Number(args.rate)
if (!(minutes > 0) || !(rate > 0)) {
  console.error('--minutes and --rate must be numbers above 0')
  process.exit(2)
}

const machine = machineLine(thisMachine(BENCH_FOLDER))
console.log(`${minutes} minutes of ${rate} tasks/s\n${machine}`)
const samples: Sample[] = []
let results = 0
let failures = 0
{
  const data = mkdtempSync(join(BENCH_FOLDER, 'soak-'))
  await using server = await ServerProcess.start({ data })
  await using load = new SoakLoad(server.address)
  await load.start(rate)
  const since = performance.now()
  const seconds = (): number => (performance.now() - since) / 1_000
  for (let second = 1; seconds() < minutes * 60; second++) {
    await sleep(Math.max(0, second * 1_000 - seconds() * 1_000))
    samples.push(sample(server.pid, data, seconds(), load.take()))
    if (second % Math.max(10, Math.round(minutes * 3)) === 0)
      console.log(progress(seconds() / 60, load.results))
  }
  results = load.results
  failures = load.failures
}
const found = flatness(samples)
const table = new Table({
  head: ['', 'over time', 'second third', 'last third', 'ratio', 'flat'],
  style: { head: [], border: [] },
})
for (const { name, unit, second, last, ratio, isFlat } of found) {
  const amount = (value: number): string => `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`
  table.push([
    name,
    sparkline(name, samples, 40),
    amount(second),
    amount(last),
    ratio.toFixed(2),
    isFlat ? 'yes' : 'NO',
  ])
}
console.log(`${results} results, ${failures} failed calls\n${table.toString()}`)
if (args.out !== undefined) keep(args.out)
const isFlat = found.every((one) => one.isFlat)
console.log(isFlat ? 'nothing grows' : `something grew to more than ${MAX_RATIO} times what it was`)
process.exitCode = isFlat && failures === 0 ? 0 : 1

function progress(done: number, count: number): string {
  const full = Math.round((30 * done) / minutes)
  return `${'█'.repeat(full)}${'░'.repeat(Math.max(0, 30 - full))} ${done.toFixed(1)}/${minutes} min  ${count} results`
}

function keep(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const title = `${minutes} minutes of ${rate} tasks/s`
  writeFileSync(join(folder, 'soak.svg'), flatnessChart(title, samples))
  writeFileSync(
    join(folder, 'soak.json'),
    `${JSON.stringify({ machine, minutes, rate, results, failures, found }, undefined, 1)}\n`,
  )
  console.log(`kept in ${fileURLToPath(new URL(folder, `file://${process.cwd()}/`))}`)
}
