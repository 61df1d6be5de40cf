import { CallerProcess } from '../processes/caller-process.ts'
import { ServerProcess } from '../processes/server-process.ts'
import { PeerProcess } from './peer-process.mjs'
import { startPostgres, startRedis } from './servers.mjs'

/** Due so long after they were submitted that submitting disturbs nothing. */
const AHEAD_MS = 2_000
const IN_FLIGHT = 64
const HOUR = 3_600_000

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} durable What an acknowledgement is worth.
 * @property {number} share Of the jobs of a measurement: slow ones get fewer.
 * @property {(work: (turn: Turn) => Promise<void>) => Promise<void>} turn Starts what is needed, works, stops it.
 *
 * @typedef {object} Turn
 * @property {(jobs: number) => Promise<number>} submitOne
 * @property {(jobs: number) => Promise<number>} submitBulk
 * @property {(jobs: number) => Promise<number>} drainOne
 * @property {(jobs: number) => Promise<number>} drainBulk
 * @property {(jobs: number, seconds: number) => Promise<number[]>} lateness
 */

/** Everybody, each with its servers up; `stop` ends them. @returns {Promise<{ contenders: Contender[], stop: () => Promise<void> }>} */
export async function startContenders() {
  const [always, everysec, defaults, postgres] = await Promise.all([
    startRedis([
      ['appendonly', 'yes'],
      ['appendfsync', 'always'],
      ['hz', '100'],
    ]),
    startRedis([
      ['appendonly', 'yes'],
      ['appendfsync', 'everysec'],
    ]),
    startRedis([]),
    startPostgres(),
  ])
  const { connectionString } = postgres
  const keepNone = { removeOnComplete: true }
  const contenders = [
    punctual(),
    peer('BullMQ, AOF always, concurrency 64, hz 100', 'bullmq', 'yes', {
      port: always.port,
      worker: { concurrency: 64 },
      job: keepNone,
    }),
    peer('BullMQ, AOF everysec, concurrency 64', 'bullmq', 'no: up to 1 s is lost', {
      port: everysec.port,
      worker: { concurrency: 64 },
      job: keepNone,
    }),
    peer(
      'BullMQ, defaults of Redis and BullMQ',
      'bullmq',
      'no: minutes are lost',
      { port: defaults.port, worker: {}, job: {} },
      0.5,
    ),
    peer('Graphile Worker, tuned', 'graphile-worker', 'yes', {
      connectionString,
      preset: {
        concurrentJobs: 64,
        maxPoolSize: 20,
        pollInterval: 100,
        localQueue: { size: 500 },
        completeJobBatchDelay: 0,
        failJobBatchDelay: 0,
      },
    }),
    peer(
      'Graphile Worker, defaults, concurrency 64',
      'graphile-worker',
      'yes',
      { connectionString, preset: { concurrentJobs: 64, maxPoolSize: 66 } },
      0.25,
    ),
    peer('pg-boss, tuned', 'pg-boss', 'yes', {
      connectionString,
      pollers: 4,
      work: { batchSize: 1_000, pollingIntervalSeconds: 0.5 },
    }),
    peer(
      'pg-boss, defaults, 64 workers',
      'pg-boss',
      'yes',
      { connectionString, pollers: 64, work: {} },
      0.02,
    ),
  ]
  return {
    contenders,
    stop: async () =>
      void (await Promise.all([always, everysec, defaults, postgres].map((server) => server.stop()))),
  }
}

function peer(name, module, durable, settings, share = 1) {
  return {
    name,
    durable,
    share,
    async turn(work) {
      const path = new URL(`${module}.mjs`, import.meta.url).href
      const client = await PeerProcess.start(path, 'client', settings)
      const worker = await PeerProcess.start(path, 'worker', settings)
      const waiting = async (call, given) => {
        const rate = await client.call(call, given)
        await client.call('clear')
        return rate
      }
      try {
        await client.call('clear')
        await work({
          submitOne: (jobs) => waiting('submitOne', { jobs, inFlight: IN_FLIGHT }),
          submitBulk: (jobs) => waiting('submitBulk', { jobs }),
          drainOne: (jobs) => client.call('drainOne', { jobs, inFlight: IN_FLIGHT }),
          drainBulk: (jobs) => client.call('drainBulk', { jobs }),
          async lateness(jobs, seconds) {
            await worker.call('takeLateness')
            await client.call('spread', { jobs, seconds, aheadMs: AHEAD_MS })
            return worker.call('takeLateness')
          },
        })
        await client.call('clear')
      } finally {
        await worker.stop()
        await client.stop()
      }
    },
  }
}

/** The same work, by the parts of `npm run bench`. */
function punctual() {
  return {
    name: 'Punctual',
    durable: 'yes',
    share: 1,
    async turn(work) {
      const caller = await CallerProcess.start()
      const server = await ServerProcess.start()
      try {
        await work(turnOf(caller, { address: server.address, pid: server.pid }))
      } finally {
        await caller.stop()
        await server.stop()
      }
    },
  }
}

function turnOf(caller, target) {
  const rate = async (measured) => (await measured).perSecond
  return {
    submitOne: (tasks) =>
      rate(caller.run('submitCoalesced', { target, tasks, inFlight: IN_FLIGHT, dueInMs: HOUR })),
    submitBulk: (tasks) =>
      rate(caller.run('submitBatches', { target, tasks, size: 256, inFlight: 4, dueInMs: HOUR })),
    drainOne: (tasks) =>
      rate(caller.run('drain', { target, tasks, way: { kind: 'coalesced', inFlight: IN_FLIGHT } })),
    drainBulk: (tasks) =>
      rate(caller.run('drain', { target, tasks, way: { kind: 'batches', size: 256, inFlight: 4 } })),
    lateness: (tasks, seconds) => caller.run('spreadLateness', { target, tasks, seconds }),
  }
}
