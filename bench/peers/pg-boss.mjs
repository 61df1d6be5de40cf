import { Pool } from 'pg'
import PgBoss from 'pg-boss'
import { latenessLog, payload, until } from './payload.mjs'

const QUEUE = 'bench'

async function start({ connectionString, boss }) {
  const started = new PgBoss({ connectionString, ...boss })
  started.on('error', (error) => console.error(error))
  await started.start()
  await started.createQueue(QUEUE)
  return started
}

export async function startWorker(settings) {
  const boss = await start(settings)
  const late = latenessLog()
  const handler = async (jobs) => {
    for (const { data } of jobs) late.note(data.dueTime)
    return jobs[0].data
  }
  for (let i = 0; i < settings.pollers; i++) await boss.work(QUEUE, settings.work, handler)
  return { takeLateness: () => late.take(), stop: () => boss.stop({ graceful: false }) }
}

export async function startClient(settings) {
  const boss = await start({ ...settings, boss: { ...settings.boss, supervise: false, schedule: false } })
  const pool = new Pool({ connectionString: settings.connectionString })
  const ended = async () => {
    const { rows } = await pool.query(
      `SELECT count(*)::int AS n FROM pgboss.job WHERE name = $1 AND state = 'completed'`,
      [QUEUE],
    )
    return rows[0].n
  }
  const dueOf = (delayMs) => (delayMs > 0 ? Date.now() + delayMs : 0)
  const options = (due) => (due > 0 ? { startAfter: new Date(due) } : {})
  return {
    add(delayMs) {
      const due = dueOf(delayMs)
      return boss.send(QUEUE, payload(due), options(due))
    },
    addBulk: (delays) =>
      boss.insert(
        delays.map((delayMs) => {
          const due = dueOf(delayMs)
          return { name: QUEUE, data: payload(due), ...options(due) }
        }),
      ),
    expect(count) {
      // no result subscription: the table is asked, seldom enough to take little from the peer
      const before = ended()
      return { done: before.then((n) => until(async () => (await ended()) >= n + count, 100)) }
    },
    clear: () => pool.query('DELETE FROM pgboss.job'),
    async stop() {
      await pool.end()
      await boss.stop({ graceful: false })
    },
  }
}
