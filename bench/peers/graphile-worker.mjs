import { makeWorkerUtils, Logger, run } from 'graphile-worker'
import { Pool } from 'pg'
import { latenessLog, payload, until } from './payload.mjs'

const silent = new Logger(() => () => {})

export async function startWorker({ connectionString, preset }) {
  const late = latenessLog()
  const runner = await run({
    connectionString,
    logger: silent,
    noHandleSignals: true,
    taskList: {
      async echo(data) {
        late.note(data.dueTime)
      },
    },
    preset: { worker: { connectionString, ...preset } },
  })
  return { takeLateness: () => late.take(), stop: () => runner.stop() }
}

export async function startClient({ connectionString }) {
  const utils = await makeWorkerUtils({ connectionString, logger: silent })
  await utils.migrate()
  const pool = new Pool({ connectionString })
  // a job that has ended well is deleted: what is left has not
  const left = async () => {
    const { rows } = await pool.query('SELECT count(*)::int AS n FROM graphile_worker._private_jobs')
    return rows[0].n
  }
  const dueOf = (delayMs) => (delayMs > 0 ? Date.now() + delayMs : 0)
  let submitted = 0
  let goal = 0
  return {
    async add(delayMs) {
      const due = dueOf(delayMs)
      await utils.addJob('echo', payload(due), due > 0 ? { runAt: new Date(due) } : {})
      submitted++
    },
    async addBulk(delays) {
      await utils.addJobs(
        delays.map((delayMs) => {
          const due = dueOf(delayMs)
          return { identifier: 'echo', payload: payload(due), ...(due > 0 && { runAt: new Date(due) }) }
        }),
      )
      submitted += delays.length
    },
    expect(count) {
      goal = submitted + count
      return { done: until(async () => submitted >= goal && (await left()) === 0, 100) }
    },
    clear: () => pool.query('DELETE FROM graphile_worker._private_jobs'),
    async stop() {
      await pool.end()
      await utils.release()
    },
  }
}
