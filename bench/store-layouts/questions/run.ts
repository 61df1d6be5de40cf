/**
 * Does the chosen layout answer its questions without a scan? Fills a store and times each question, cold
 * (a fresh connection) and warm.
 *
 *   npx tsx bench/store-layouts/questions/run.ts --waiting 1000000 --ended 1000000
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DatabaseSync } from '@photostructure/sqlite'
import { chosen } from '../chosen.js'
import { type BenchTask, Workload } from '../workload.js'

type Database = InstanceType<typeof DatabaseSync>

const { values: args } = parseArgs({
  options: {
    waiting: { type: 'string', default: '1000000' },
    ended: { type: 'string', default: '1000000' },
    dir: { type: 'string', default: tmpdir() },
  },
})
const dir = mkdtempSync(join(args.dir, 'questions-'))
const file = join(dir, 'store.db')
const open = () => {
  const db = new DatabaseSync(file)
  db.exec(
    'PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536; PRAGMA wal_autocheckpoint=4000',
  )
  return db
}
let db = open()
const layout = chosen(db)
const ended = Number(args.ended)
const waiting = Number(args.waiting)
const work = new Workload('uuid7', 1)
for (let at = 0; at < ended; at += 1024) {
  db.exec('BEGIN')
  const batch = work.batch(1024)
  layout.put(batch)
  layout.finish(batch, at + 1)
  db.exec('COMMIT')
}
db.exec('UPDATE ended SET state=5 WHERE arrival % 1000 = 0')
const T = 1_790_000_000_000 + Math.floor(ended / 40)
const farAway = (task: BenchTask) =>
  Object.assign(task, { due: T + Math.floor((Math.random() - 0.5) * 172_800_000) })
const fill = process.hrtime.bigint()
for (let at = 0; at < waiting; at += 1024) {
  db.exec('BEGIN')
  // Half are due already (a backlog after an outage), half spread over a day; priorities −2…2.
  const batch = work.batch(1024).map((task) => farAway(task))
  layout.put(batch)
  db.prepare('UPDATE tasks SET priority = arrival % 5 - 2 WHERE arrival BETWEEN ? AND ?').run(
    batch[0]?.arrival ?? 0,
    batch.at(-1)?.arrival ?? 0,
  )
  db.exec('COMMIT')
}
console.log(
  `fill of ${waiting} far tasks with random due times: ${(waiting / (Number(process.hrtime.bigint() - fill) / 1e9) / 1000).toFixed(0)}k/s (no sync)`,
)
db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
db.close()
console.log(`file ${(statSync(file).size / 1e6).toFixed(0)} MB`)

const K = 100_000
const questions: [string, (db: Database) => number][] = [
  [
    'first due of each priority',
    (d) =>
      d
        .prepare(`WITH RECURSIVE p(x) AS (SELECT min(priority) FROM tasks UNION ALL SELECT (SELECT min(priority) FROM tasks WHERE priority > x) FROM p WHERE x IS NOT NULL)
      SELECT x, (SELECT min(due) FROM tasks WHERE priority = x) FROM p WHERE x IS NOT NULL`)
        .all().length,
  ],
  [
    'K=100,000 smallest start_key among the due, no payload',
    (d) => {
      const parts = [-2, -1, 0, 1, 2].map(
        (p) =>
          `SELECT * FROM (SELECT due - ${p} * 10000 AS start_key, arrival FROM tasks WHERE priority = ${p} AND due <= ${T} ORDER BY due, arrival LIMIT ${K})`,
      )
      return (
        JSON.parse(
          (
            d
              .prepare(
                `SELECT json_group_array(start_key) || '' AS j FROM (${parts.join(' UNION ALL ')} ORDER BY start_key, arrival LIMIT ${K})`,
              )
              .get() as { j: string }
          ).j,
        ) as unknown[]
      ).length
    },
  ],
  [
    'the same, the first 1,000 with payload',
    (d) =>
      d
        .prepare(
          `SELECT arrival, id, due, handler, spec FROM tasks WHERE arrival IN (SELECT arrival FROM tasks WHERE priority = 0 AND due <= ${T} ORDER BY due, arrival LIMIT 1000)`,
        )
        .all().length,
  ],
  [
    'due in the next 60 s',
    (d) =>
      d
        .prepare(
          `SELECT arrival, id, due, handler, spec FROM tasks WHERE priority IN (-2,-1,0,1,2) AND due > ${T} AND due <= ${T + 60_000}`,
        )
        .all().length,
  ],
  [
    'FAILED of handler X, last hour (1,000)',
    (d) =>
      d
        .prepare(
          `SELECT * FROM ended WHERE state = 5 AND state <> 4 AND handler = 4 AND due >= ${T - 3_600_000} ORDER BY due, arrival LIMIT 1000`,
        )
        .all().length,
  ],
  [
    'page of ended tasks by (due, arrival) after a token',
    (d) =>
      d
        .prepare(
          `SELECT * FROM ended WHERE (due, arrival) > (${T - 10_000}, 5) ORDER BY due, arrival LIMIT 1000`,
        )
        .all().length,
  ],
  [
    '1,000 ids to their tasks',
    (d) => {
      const ids = (
        d.prepare('SELECT lower(hex(id)) h FROM tasks LIMIT 1000 OFFSET 5000').all() as { h: string }[]
      ).map((row) => row.h)
      const { n } = d
        .prepare(
          "SELECT count(*) n FROM json_each(?) e CROSS JOIN ids ON ids.namespace='' AND ids.id = unhex(e.value) CROSS JOIN tasks USING(arrival)",
        )
        .get(JSON.stringify(ids)) as { n: number }
      return n
    },
  ],
  [
    'replay of the log, whole',
    (d) => {
      let entries = 0
      let after = 0
      const page = d.prepare(
        'SELECT first_sequence, n, body FROM log WHERE first_sequence > ? ORDER BY first_sequence LIMIT 64',
      )
      for (;;) {
        const rows = page.all(after) as { first_sequence: number; n: number; body: Uint8Array }[]
        if (rows.length === 0) return entries
        for (const row of rows) entries += row.n
        after = rows.at(-1)?.first_sequence ?? 0
      }
    },
  ],
]
for (const [name, ask] of questions) {
  db = open()
  const times = [0, 0].map(() => {
    const began = process.hrtime.bigint()
    const found = ask(db)
    return { ms: Number(process.hrtime.bigint() - began) / 1e6, found }
  })
  console.log(
    `${name.padEnd(58)} ${String(times[0]?.found).padStart(8)} rows  first ${times[0]?.ms.toFixed(1)} ms, again ${times[1]?.ms.toFixed(1)} ms`,
  )
  db.close()
}
rmSync(dir, { recursive: true })
