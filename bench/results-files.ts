import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Bar, barChart, lineChart } from './measure/chart.js'
import type { Figure } from './measure/figure.js'
import { type Machine, machineLine } from './measure/machine.js'
import { reportTable } from './measure/report-table.js'

const RESULTS = fileURLToPath(new URL('results/', import.meta.url))

/** A run of the bench, as it is kept. */
export interface Report {
  readonly machine: Machine
  readonly scale: string
  readonly figures: readonly Figure[]
}

/** Writes a run as a page, as JSON, and as charts, one for each scenario. Returns the folder. */
export function writeReport({ machine, scale, figures }: Report, folder = RESULTS): string {
  mkdirSync(folder, { recursive: true })
  const charts = chartsOf(figures)
  for (const { file, svg } of charts) writeFileSync(join(folder, file), svg)
  writeFileSync(join(folder, 'bench.json'), `${JSON.stringify({ machine, scale, figures }, rounded, 1)}\n`)
  writeFileSync(
    join(folder, 'README.md'),
    page(
      { machine, scale, figures },
      charts.map(({ file }) => file),
    ),
  )
  return folder
}

/** The report in text. */
function page({ machine, scale, figures }: Report, charts: readonly string[]): string {
  return [
    '# Results of the bench',
    `Made by \`npm run bench\` (${scale}) at commit ${machine.commit}; how to read it: [docs/performance.md](../../docs/performance.md).`,
    `${machineLine(machine)}. Load average while it ran: ${loads(figures)}.`,
    'Compare inside a table, by ratio: the ceiling of a figure was measured in turn with it. Server and client are processes of their own on the same cores.',
    reportTable(figures),
    ...charts.map((file) => `![${file.replace('.svg', '')}](${file})`),
    '',
  ].join('\n\n')
}

const loads = (figures: readonly Figure[]): string => {
  const values = figures.map(({ load }) => load)
  return `${Math.min(...values)}–${Math.max(...values)}`
}

interface Chart {
  readonly file: string
  readonly svg: string
}

function chartsOf(figures: readonly Figure[]): Chart[] {
  const scenarios = [...new Set(figures.map(({ scenario }) => scenario))]
  const bars = scenarios.flatMap((scenario) => {
    const unit = mostCommonUnit(figures.filter((one) => one.scenario === scenario))
    const lines = figures.filter((one) => one.scenario === scenario && one.unit === unit)
    const file = `${scenario.split(/[:,]/)[0]?.toLowerCase().replaceAll(' ', '-') ?? 'chart'}.svg`
    return [{ file, svg: barChart(scenario.split(':')[0] ?? scenario, unit, lines.map(barOf)) }]
  })
  return [...bars, ...growthChart(figures)]
}

function barOf({ name, value, ceiling }: Figure): Bar {
  return {
    label: name.trim().replace(/^stage: /, ''),
    value,
    ...(ceiling && { mark: ceiling.value.median }),
    kind: name.startsWith('  ') ? 4 : 0,
  }
}

function growthChart(figures: readonly Figure[]): Chart[] {
  const drains = figures.filter(({ also }) => also?.['waiting'] !== undefined)
  if (drains.length < 2) return []
  const points = drains.map(({ also, serverUs }) => ({ x: also?.['waiting'] ?? 0, y: serverUs?.median ?? 0 }))
  return [
    {
      file: 'growth.svg',
      svg: lineChart('Server CPU a task, µs', 'waiting tasks', [{ label: 'drain in batches', points }]),
    },
  ]
}

function mostCommonUnit(figures: readonly Figure[]): string {
  const counts = new Map<string, number>()
  for (const { unit } of figures) counts.set(unit, (counts.get(unit) ?? 0) + 1)
  return [...counts].toSorted((a, b) => b[1] - a[1])[0]?.[0] ?? ''
}

/** Six digits are more than any of this is worth. */
const rounded = (_: string, value: unknown): unknown =>
  typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
