/**
 * Which layout carries the life of a task best? One batch in, one batch out, one commit, synchronous=FULL.
 *
 *   npx tsx bench/store-layouts/run.ts --size 256 --rows 0 --ids uuid7 [--only E1,E2] [--seconds 3] [--rounds 3] [--starts] [--purge]
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import type { LayoutMaker } from './layout.js'
import { layouts } from './layouts.js'
import { type BenchTask, type IdKind, Workload } from './workload.js'

const { values: args } = parseArgs({
  options: {
    size: { type: 'string', default: '256' },
    rows: { type: 'string', default: '0' },
    ids: { type: 'string', default: 'uuid7' },
    only: { type: 'string', default: '' },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '3' },
    page: { type: 'string', default: '4096' },
    checkpoint: { type: 'string', default: '4000' },
    cache: { type: 'string', default: '65536' },
    sync: { type: 'string', default: 'FULL' },
    starts: { type: 'boolean', default: false },
    purge: { type: 'boolean', default: false },
    dir: { type: 'string', default: tmpdir() },
  },
})
const size = Number(args.size)
const LAG = 4

class Bench {
  readonly dir = mkdtempSync(join(args.dir, 'layouts-'))
  readonly db = new DatabaseSync(join(this.dir, 'store.db'))
  readonly work: Workload
  readonly layout
  readonly history: BenchTask[][] = []
  sequence = 1
  commits = 0

  constructor(maker: LayoutMaker) {
    this.db.exec(`PRAGMA page_size=${args.page}; PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA wal_autocheckpoint=${args.checkpoint};
      PRAGMA cache_size=-${args.cache}; PRAGMA journal_size_limit=67108864;`)
    this.layout = maker(this.db)
    this.db.exec(
      'CREATE TABLE counts(state INTEGER PRIMARY KEY, n INT); INSERT INTO counts VALUES(1,0),(4,0)',
    )
    this.work = new Workload(args.ids as IdKind, 1)
    for (let left = Number(args.rows); left > 0; left -= 4096) this.#life(this.work.batch(4096), false)
    this.db.exec(`PRAGMA wal_checkpoint(TRUNCATE); PRAGMA synchronous=${args.sync};`)
  }

  #life(batch: BenchTask[], purge: boolean): void {
    this.db.exec('BEGIN IMMEDIATE')
    this.layout.put(batch)
    this.layout.finish(batch, this.sequence)
    this.sequence += batch.length
    this.db.exec('COMMIT')
    if (purge) this.history.push(batch)
  }

  round(seconds: number): { rate: number; cpu: number; wal: number } {
    const count = this.db.prepare('UPDATE counts SET n=n+? WHERE state=?')
    let tasks = 0
    let spent = 0n
    const cpu = { user: 0, system: 0 }
    const open: BenchTask[][] = []
    const closed: { batch: BenchTask[]; first: number }[] = []
    while (Number(spent) < seconds * 1e9) {
      const batch = this.work.batch(size)
      const began = process.hrtime.bigint()
      const cpuBegan = process.cpuUsage()
      this.db.exec('BEGIN IMMEDIATE')
      this.layout.put(batch)
      open.push(batch)
      if (args.starts && open.length > 2) this.layout.start(open[open.length - 3] ?? [])
      if (open.length > LAG) {
        const done = open.shift() ?? []
        this.layout.finish(done, this.sequence)
        closed.push({ batch: done, first: this.sequence })
        this.sequence += done.length
        count.run(done.length, 4)
        tasks += done.length
      }
      if (args.purge && closed.length > 100) {
        const old = closed.shift()
        if (old) this.layout.purge(old.batch, old.first)
      }
      count.run(0, 1)
      this.db.exec('COMMIT')
      this.commits++
      spent += process.hrtime.bigint() - began
      const used = process.cpuUsage(cpuBegan)
      cpu.user += used.user
      cpu.system += used.system
    }
    for (const batch of open) {
      this.layout.finish(batch, this.sequence)
      this.sequence += batch.length
    }
    const wal = statSync(join(this.dir, 'store.db-wal')).size
    return { rate: tasks / (Number(spent) / 1e9), cpu: (cpu.user + cpu.system) / tasks, wal }
  }

  close(): number {
    this.db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    const bytes = statSync(join(this.dir, 'store.db')).size
    this.db.close()
    rmSync(this.dir, { recursive: true })
    return bytes
  }
}

const wanted = args.only.split(',').filter(Boolean)
const chosen = Object.entries(layouts).filter(
  ([name]) => wanted.length === 0 || wanted.includes(name.split(' ')[0] ?? ''),
)
const benches = chosen.map(([name, maker]) => ({
  name,
  bench: new Bench(maker),
  rates: [] as number[],
  cpus: [] as number[],
}))
for (const { bench } of benches) bench.round(0.3)
for (let i = 0; i < Number(args.rounds); i++) {
  for (const entry of benches) {
    const { rate, cpu } = entry.bench.round(Number(args.seconds))
    entry.rates.push(rate)
    entry.cpus.push(cpu)
  }
}
const median = (list: number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0
const base = median(benches[0]?.rates ?? [1])
console.log(
  `\nids ${args.ids}, ${args.rows} rows before, ${size} a commit, page ${args.page}, checkpoint ${args.checkpoint}, cache ${args.cache} KiB, ${args.sync}${args.starts ? ', start notes' : ''}${args.purge ? ', purge' : ''}`,
)
for (const { name, bench, rates, cpus } of benches) {
  const rate = median(rates)
  console.log(
    `${name.padEnd(24)} ${(rate / 1000).toFixed(1).padStart(6)}k/s (${(Math.min(...rates) / 1000).toFixed(0)}-${(Math.max(...rates) / 1000).toFixed(0)})  ${(rate / base).toFixed(2)}x  ${median(cpus).toFixed(1).padStart(5)} µs CPU  ${(bench.close() / 1e6).toFixed(0).padStart(5)} MB`,
  )
}
