import { setTimeout as sleep } from 'node:timers/promises'
import type { SchedulerClient, TaskInfo } from '../client/index.js'
import { Book } from './book.js'
import { check, type Evidence } from './checks.js'
import { Dice } from './dice.js'
import { FAULTS, KILL } from './faults.js'
import { readJournal } from './journal.js'
import { Load } from './load.js'
import { readAll, Reader } from './reader.js'
import { brokenPromises, faultTable, showProgress, verdictTable } from './report.js'
import { checkStore, errorsLogged } from './store-check.js'
import { Victim } from './victim.js'

export interface ChaosOptions {
  readonly kills: number
  readonly seed: number
  /** Leave data, journal and log behind. */
  readonly keep: boolean
  readonly connect: (address: string) => SchedulerClient
}

const PAUSE_MS = 25
/** Before each fault so many tasks are stored, or this long is waited: a server that is only starting has nothing to lose. */
const TASKS_BETWEEN = 10
const WAIT_FOR_TASKS_MS = 6_000
const END_LIMIT_MS = 120_000
const LIVE: readonly TaskInfo['state'][] = ['scheduled', 'running']

/** @returns whether every promise was kept. */
export async function chaos({ kills, seed, keep, connect }: ChaosOptions): Promise<boolean> {
  const dice = new Dice(seed)
  const flags = serverFlags(dice.split(1))
  console.log(`seed ${seed}, ${kills} kills; server: ${flags.join(' ')}`)
  const victim = await Victim.start(flags)
  const client = connect(victim.address)
  const book = new Book()
  const reader = new Reader(client)
  const load = new Load(client, book, dice.split(2), () => reader.ended)
  const since = performance.now()
  const phase = (what: string): void =>
    console.log(`${what} after ${Math.round((performance.now() - since) / 1_000)} s`)
  let held = false
  try {
    reader.start()
    const running = load.run(PAUSE_MS)
    const faults = await strike(kills, book, { victim, load, dice: dice.split(3) })
    await load.stop()
    await running
    await load.cancelSeries()
    phase('the load has stopped')
    await untilAllHasEnded(client, victim)
    phase('every task has ended')
    const evidence = await gather(client, reader, book, victim)
    await client.close()
    const exitCode = await victim.stop()
    const verdicts = [...check(evidence), ...(await checkStore(victim, exitCode, reader.failure))]
    if (victim.ownDeaths > 0) faults.set('… server killed by it', victim.ownDeaths)
    console.log(
      `${book.entries.size} tasks, ${evidence.log.length} log entries, ${evidence.notes.length} notes of handlers`,
    )
    console.log(
      `errors that callers met: ${[...book.errors].map(([error, times]) => `${times} × ${error}`).join(', ')}`,
    )
    console.log(`errors logged: ${errorsLogged(victim).join(', ')}`)
    console.log(`\n${faultTable(faults)}\n${verdictTable(verdicts)}`)
    const broken = brokenPromises(verdicts)
    for (const line of broken) console.log(`BROKEN  ${line}`)
    held = broken.length === 0
    console.log(
      held
        ? `\nall promises held (seed ${seed})`
        : `\nreplay: npm run chaos -- --kills ${kills} --seed ${seed}`,
    )
  } finally {
    await client.close()
    if (held && !keep) await victim.remove()
    else {
      await victim.kill()
      console.log(`left behind: ${victim.folder}`)
    }
  }
  return held
}

/** Sizes that make every edge come up: of the window, of the slots. */
function serverFlags(dice: Dice): readonly string[] {
  return [
    ['--threads', dice.pick(['2', '4'])],
    ['--shared-slots', dice.pick(['2', '64'])],
    ['--window', dice.pick(['1s', '3s', '60s'])],
    ['--window-tasks', dice.pick(['100', '1000', '100000'])],
    ['--scheduler', dice.pick(['heap', 'heap', 'heap', 'worker-pool'])],
  ].flat()
}

async function strike(
  kills: number,
  book: Book,
  scene: Parameters<typeof KILL.strike>[0],
): Promise<Map<string, number>> {
  const { dice, victim } = scene
  const faults = new Map<string, number>()
  const weighted = FAULTS.map((item) => ({ weight: item.weight, item }))
  for (let killed = 0; killed < kills; killed++) {
    for (const fault of [dice.draw(weighted), KILL]) {
      await untilBusy(book)
      await sleep(dice.int(0, 1_200))
      await fault.strike(scene)
      if (victim.broken) throw victim.broken
      if (fault.name !== 'nothing') faults.set(fault.name, (faults.get(fault.name) ?? 0) + 1)
    }
    showProgress(killed + 1, kills, `${victim.starts} starts`)
  }
  return faults
}

async function untilBusy(book: Book): Promise<void> {
  const wanted = book.acknowledged + TASKS_BETWEEN
  const since = performance.now()
  while (book.acknowledged < wanted && performance.now() - since < WAIT_FOR_TASKS_MS) await sleep(20)
}

async function untilAllHasEnded(client: SchedulerClient, victim: Victim): Promise<void> {
  const since = performance.now()
  while (performance.now() - since < END_LIMIT_MS) {
    if (victim.broken) throw victim.broken
    try {
      let live = 0
      for await (const _ of client.list({ states: LIVE })) live++
      if (live === 0) return
    } catch {
      // it may be dying once more
    }
    await sleep(500)
  }
}

async function gather(
  client: SchedulerClient,
  reader: Reader,
  book: Book,
  victim: Victim,
): Promise<Evidence> {
  const log = await readAll(client)
  const since = performance.now()
  while (reader.results.length < log.length && performance.now() - since < 10_000) await sleep(50)
  await reader.stop()
  const tasks = new Map<string, TaskInfo>()
  for await (const task of client.list()) tasks.set(task.id, task)
  const { states: counts } = await client.stats()
  return { book, notes: readJournal(victim.journal), live: reader.results, log, tasks, counts }
}
