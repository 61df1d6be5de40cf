import { parseArgs } from 'node:util'
import type { Figure } from './measure/figure.js'
import { shownSpread } from './measure/figure.js'
import { machineLine, thisMachine } from './measure/machine.js'
import { reportTable } from './measure/report-table.js'
import { BENCH_FOLDER } from './processes/bench-folder.js'
import { CallerProcess } from './processes/caller-process.js'
import { EchoProcess } from './processes/echo-process.js'
import { writeReport } from './results-files.js'
import { beside } from './scenarios/beside.js'
import { cancel } from './scenarios/cancel.js'
import { drain } from './scenarios/drain.js'
import { lateness } from './scenarios/lateness.js'
import { results } from './scenarios/results.js'
import { SCALES } from './scenarios/scale.js'
import type { Scenario } from './scenarios/scenario.js'
import { streams } from './scenarios/streams.js'
import { submit } from './scenarios/submit.js'
import { tracing } from './scenarios/tracing.js'
import { waiting } from './scenarios/waiting.js'

/**
 * npm run bench -- [--smoke | --long] [--only submit,drain,…] [--runs N] [--out DIR]
 *
 * --smoke: everything once and small, in under a minute, to see that it works: its figures mean nothing, and are not kept.
 * --long: more of everything, and ten million waiting tasks.
 * --only: some scenarios; the results are printed, and kept only with --out.
 */
const { values: args } = parseArgs({
  options: {
    smoke: { type: 'boolean', default: false },
    long: { type: 'boolean', default: false },
    only: { type: 'string' },
    runs: { type: 'string' },
    out: { type: 'string' },
  },
})
const SCENARIOS: readonly Scenario[] = [
  submit,
  drain,
  lateness,
  beside,
  cancel,
  results,
  streams,
  waiting,
  tracing,
]

const given = SCALES[args.smoke ? 'smoke' : args.long ? 'long' : 'normal']
const scale = args.runs === undefined ? given : { ...given, runs: Number(args.runs) }
const names = args.only?.split(',') ?? SCENARIOS.map(({ name }) => name)
const unknown = names.find((name) => !SCENARIOS.some((scenario) => scenario.name === name))
if (unknown !== undefined) {
  console.error(`there is no scenario '${unknown}': ${SCENARIOS.map(({ name }) => name).join(', ')}`)
  process.exit(2)
}

const machine = thisMachine(BENCH_FOLDER)
console.log(machineLine(machine))
const figures: Figure[] = []
const since = performance.now()
{
  await using caller = await CallerProcess.start()
  await using echo = await EchoProcess.start()
  for (const scenario of SCENARIOS.filter(({ name }) => names.includes(name))) {
    console.log(`\n${scenario.name} (after ${((performance.now() - since) / 1_000).toFixed(0)} s)`)
    const found = await scenario.run({ scale, caller, echo, say: (line) => console.log(line) })
    figures.push(...found)
    for (const one of found) {
      const ratio = one.ceiling ? `  ${one.ceiling.ratio.median.toFixed(2)}x of ${one.ceiling.name}` : ''
      console.log(`  ${one.name}: ${shownSpread(one.value)} ${one.unit}${ratio}`)
    }
  }
}
console.log(`\n${reportTable(figures)}`)
const isKept = args.out !== undefined || (args.only === undefined && !args.smoke)
if (isKept) console.log(`\nwritten to ${writeReport({ machine, scale: scale.name, figures }, args.out)}`)
