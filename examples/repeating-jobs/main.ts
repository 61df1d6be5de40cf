/**
 * `npm run example:repeating-jobs`: the second article's program. Five jobs of 1 to 5 s repeat on three workers; which worker ran which job when, whether the
 * five things that the article asks for hold, and how often each job started.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pc from 'picocolors'
import { createClient } from 'punctual'
import { startTestServer } from 'punctual/testing'
import { handlers } from './handlers.js'
import type { JobRun } from './job-run.js'
import { readOptions, USAGE } from './options.js'
import { JOBS, playRound, type Round } from './play-round.js'
import { checkRequirements } from './requirements.js'
import { startServerProcess } from './server-process.js'
import { countStarts, isFair, startsTable } from './starts.js'
import { svgTimeline } from './timeline-svg.js'
import { textTimeline } from './timeline-text.js'

const COLUMNS = 120
/** A busy machine may be late by so much; on the virtual clock nothing is. */
const TOLERANCE_MS = 250
const COLOURS = [pc.cyan, pc.yellow, pc.green, pc.magenta, pc.red]

const options = readOptions(process.argv.slice(2))
if (options.help) console.log(USAGE)
else await main()

async function main(): Promise<void> {
  const { spanMs, intervalsMs } = options
  const world = options.virtual ? await virtualWorld() : await realWorld()
  const rounds = []
  try {
    for (const intervalMs of intervalsMs) {
      const runs = await playRound({ ...world.round, intervalMs, spanMs })
      show(runs, intervalMs)
      rounds.push({ name: `at least ${intervalMs / 1_000} s apart`, starts: countStarts(runs, JOBS, spanMs) })
    }
  } finally {
    await world.close()
  }
  console.log(`\nIn ${spanMs / 1_000} s:\n${startsTable(rounds)}`)
  for (const { name, starts } of rounds) {
    say(isFair(starts), `${name}: the shortest job started at least as often as the longest`)
  }
}

interface World {
  readonly round: Pick<Round, 'client' | 'pass'>
  readonly close: () => Promise<void>
}

async function realWorld(): Promise<World> {
  const server = await startServerProcess(options.workers)
  const client = createClient<typeof handlers>({ address: server.address })
  const close = async (): Promise<void> => {
    await client.close()
    await server.stop()
  }
  return { round: { client, pass: (ms) => sleep(ms) }, close }
}

async function virtualWorld(): Promise<World> {
  const server = await startTestServer({ handlers, threads: options.workers })
  return {
    round: { client: server.client, pass: (ms) => server.advance(ms) },
    close: () => server.close(),
  }
}

function show(runs: readonly JobRun[], intervalMs: number): void {
  const { spanMs, workers, virtual, out } = options
  const title = `Jobs of 1 to 5 s on ${workers} workers, starts of a job at least ${intervalMs / 1_000} s apart`
  const paint = (job: number, text: string): string => (COLOURS[job - 1] ?? String)(text)
  console.log(`\n${title}\n\n${textTimeline(runs, { spanMs, columns: COLUMNS, paint })}\n`)
  const asked = { jobs: JOBS, workers, intervalMs, toleranceMs: virtual ? 0 : TOLERANCE_MS }
  for (const { text, against } of checkRequirements(runs, asked)) {
    say(against.length === 0, text)
    for (const seen of against) console.log(`      ${seen}`)
  }
  if (out === undefined) return
  mkdirSync(out, { recursive: true })
  const file = join(out, `timeline-${intervalMs / 1_000}s.svg`)
  writeFileSync(file, svgTimeline(runs, { spanMs, title }))
  console.log(`\n  ${file}`)
}

function say(holds: boolean, text: string): void {
  console.log(`  ${holds ? pc.green('✓') : pc.red('✗')} ${text}`)
  if (!holds) process.exitCode = 1
}
