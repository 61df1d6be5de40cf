import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Measured, Target } from '../callers/measured.js'
import { shown } from '../measure/figure.js'
import { loadAverage } from '../measure/machine.js'
import { markdownTable } from '../measure/report-table.js'
import { BENCH_FOLDER } from '../processes/bench-folder.js'
import { CallerProcess } from '../processes/caller-process.js'
import { ServerProcess } from '../processes/server-process.js'
import { flameGraph } from './flame-graph.js'
import { hottest, stagesOf } from './stages.js'
import { readProfiles, type ThreadProfile } from './thread-profile.js'

/**
 * npm run profile -- drain|coalesced|submit|unary|cancel|replay [--tasks N] [--allocations] [--out DIR] [--top N]
 *
 * Where the time of a task goes (or, with --allocations, which bytes it leaves behind): a table of stages that adds up to the whole, the hottest functions, and a flame
 * graph of each thread of the server and of the client, in bench/results/profile/.
 */
const { values: args, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    tasks: { type: 'string' },
    allocations: { type: 'boolean', default: false },
    out: { type: 'string', default: fileURLToPath(new URL('../results/profile/', import.meta.url)) },
    top: { type: 'string', default: '25' },
  },
})
const HOUR = 3_600_000
const batches = { kind: 'batches', size: 256, inFlight: 4 } as const

type Work = (caller: CallerProcess, target: Target, tasks: number) => Promise<Measured>
const WORKS: Readonly<Record<string, { readonly tasks: number; readonly run: Work }>> = {
  drain: {
    tasks: 100_000,
    run: (caller, target, tasks) => caller.run('drain', { target, tasks, way: batches }),
  },
  coalesced: {
    tasks: 50_000,
    run: (caller, target, tasks) =>
      caller.run('drain', { target, tasks, way: { kind: 'coalesced', inFlight: 1_000 } }),
  },
  submit: {
    tasks: 100_000,
    run: (caller, target, tasks) =>
      caller.run('submitBatches', { target, tasks, size: 256, inFlight: 4, dueInMs: HOUR }),
  },
  unary: {
    tasks: 10_000,
    run: (caller, target, tasks) => caller.run('submitUnary', { target, tasks, inFlight: 64, dueInMs: HOUR }),
  },
  cancel: {
    tasks: 50_000,
    run: async (caller, target, tasks) =>
      (await caller.run('cancelBatches', { target, tasks, size: 256, inFlight: 4, dueInMs: HOUR })).cancelled,
  },
  replay: { tasks: 100_000, run: (caller, target) => caller.run('replay', { target }) },
}

const [name = 'drain'] = positionals
const work = WORKS[name]
if (work === undefined) {
  console.error(`there is nothing called '${name}' to profile: ${Object.keys(WORKS).join(', ')}`)
  process.exit(2)
}
const tasks = args.tasks === undefined ? work.tasks : Number(args.tasks)
const folder = mkdtempSync(join(BENCH_FOLDER, 'profile-'))
const recorder = new URL('record.mjs', import.meta.url).href
const env = { PUNCTUAL_PROFILE: folder, PUNCTUAL_ALLOCATIONS: args.allocations ? 'yes' : 'no' }
Object.assign(process.env, env)

const { told, before } = await record()
const threads = readProfiles(folder)
rmSync(folder, { recursive: true })
mkdirSync(args.out, { recursive: true })
const suffix = args.allocations ? 'allocations' : 'cpu'
threads.forEach((thread, i) => {
  const twin = threads.filter((other) => other.thread === thread.thread).length > 1 ? `-${i}` : ''
  const unit = args.allocations ? 'bytes allocated' : 'CPU time'
  writeFileSync(
    join(args.out, `${name}-${thread.thread}${twin}-${suffix}.svg`),
    flameGraph(thread, `${name}, ${unit}`),
  )
})
const report = args.allocations ? allocationTable(threads) : stageTable(threads, told)
writeFileSync(join(args.out, `${name}-${suffix}.md`), `${report}\n`)
console.log(report)
console.log(`\nload average ${loadAverage()}; flame graphs in ${args.out}`)
for (const thread of threads) {
  console.log(`\n${thread.thread}`)
  for (const { where, share } of hottest(thread, Number(args.top)))
    console.log(`  ${(share * 100).toFixed(1).padStart(5)} %  ${inUnits(thread, share)}  ${where}`)
}

async function record(): Promise<{ readonly told: Measured; readonly before: Measured }> {
  await using caller = await CallerProcess.start(['--import', recorder])
  await using server = await ServerProcess.start({ nodeArgs: ['--import', recorder], env })
  const target: Target = { address: server.address, pid: server.pid }
  // warm: what is compiled, and a log to replay
  await caller.run('drain', { target, tasks: Math.max(tasks, 50_000), way: batches })
  if (name !== 'drain' && name !== 'replay') await work?.run(caller, target, Math.ceil(tasks / 4))
  const toggle = async (): Promise<void> => {
    for (const pid of [server.pid, caller.pid]) process.kill(pid, 'SIGUSR2')
    await sleep(2_000)
  }
  const { run } = work as NonNullable<typeof work>
  const unrecorded = await run(caller, target, tasks)
  await toggle()
  const recorded = await run(caller, target, tasks)
  await toggle()
  return { told: recorded, before: unrecorded }
}

function inUnits({ cpuUs, total }: ThreadProfile, share: number): string {
  return args.allocations ? `${shown((share * total) / tasks)} B` : `${shown((share * cpuUs) / tasks)} µs`
}

/** Microseconds of CPU for each task, by thread and stage: the kernel counts the CPU of a thread, the profile divides it. */
function stageTable(profiles: readonly ThreadProfile[], { serverUs, perSecond, clientUs }: Measured): string {
  const server = profiles.filter(({ thread }) => thread !== 'client')
  const rows = profiles.flatMap((profile) => [
    [`**${profile.thread}**`, '', `**${shown(profile.cpuUs / tasks)}**`],
    ...stagesOf(profile)
      .filter(({ share }) => (share * profile.cpuUs) / tasks >= 0.05)
      .map(({ stage, share }) => ['', stage, shown((share * profile.cpuUs) / tasks)]),
  ])
  const known = server.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / tasks
  return [
    `${name}: ${shown(before.perSecond)} tasks/s, server ${shown(before.serverUs)} µs a task, of it main thread ${shown(before.serverMainUs)}, client ${shown(before.clientUs)}; while it was recorded ${shown(perSecond)} tasks/s and:`,
    '',
    markdownTable(
      ['thread', 'stage', 'µs of CPU a task'],
      [
        ...rows,
        ['**other threads**', 'V8: collection and compilation beside; libuv', shown(serverUs - known)],
        ['**server**', '', `**${shown(serverUs)}**`],
        ['**client**', '', `**${shown(clientUs)}**`],
      ],
    ),
  ].join('\n')
}

function allocationTable(profiles: readonly ThreadProfile[]): string {
  const rows = profiles.flatMap((profile) => [
    [`**${profile.thread}**`, '', `**${shown(profile.total / tasks)}**`],
    ...stagesOf(profile)
      .filter(({ share }) => (share * profile.total) / tasks >= 5)
      .map(({ stage, share }) => ['', stage, shown((share * profile.total) / tasks)]),
  ])
  return [
    `${name}: bytes of the JavaScript heap that a task allocates`,
    '',
    markdownTable(['thread', 'stage', 'bytes a task'], rows),
  ].join('\n')
}
