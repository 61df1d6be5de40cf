import { performance } from 'node:perf_hooks'

/**
 * A process of a peer: its worker or its client. Started with the module of the peer, the role, and its settings; answers calls by name over IPC.
 *
 * @typedef {object} Worker
 * @property {() => number[]} takeLateness Milliseconds between due time and start of the jobs since the last call.
 * @property {() => Promise<void>} stop
 *
 * @typedef {object} Client
 * @property {(delayMs: number) => Promise<unknown>} add One job.
 * @property {(delaysMs: readonly number[]) => Promise<unknown>} addBulk Many jobs in one call.
 * @property {(count: number) => { readonly done: Promise<void> }} expect Resolves `done` when so many more jobs are known to have ended well.
 * @property {() => Promise<unknown>} clear Removes every job.
 * @property {() => Promise<void>} stop
 */

const [modulePath = '', role = '', settings = '{}'] = process.argv.slice(2)
const peer = await import(modulePath)
const part = await (role === 'worker'
  ? peer.startWorker(JSON.parse(settings))
  : peer.startClient(JSON.parse(settings)))

const BULK = 1_000
const BULKS_IN_FLIGHT = 4
const HOUR = 3_600_000

const calls = {
  takeLateness: () => part.takeLateness(),
  stop: () => part.stop(),
  /** Jobs a second that are acknowledged, one call each, and wait. */
  submitOne: ({ jobs, inFlight }) => rate(jobs, () => each(jobs, inFlight, () => part.add(HOUR))),
  /** The same, many in a call. */
  submitBulk: ({ jobs }) => rate(jobs, () => bulks(jobs, () => HOUR)),
  /** Jobs a second from the first call to the last known end. */
  drainOne: ({ jobs, inFlight }) => drained(jobs, () => each(jobs, inFlight, () => part.add(0))),
  drainBulk: ({ jobs }) => drained(jobs, () => bulks(jobs, () => 0)),
  /** Jobs at random moments of some seconds, submitted before the first is due. */
  async spread({ jobs, seconds, aheadMs }) {
    const { done } = part.expect(jobs)
    await bulks(jobs, () => aheadMs + Math.floor(Math.random() * seconds * 1_000))
    await done
  },
  clear: async () => void (await part.clear()),
}

process.on('message', ({ call, given }) => void answer(call, given))
process.once('disconnect', () => process.exit(0))
process.send?.('ready')

async function rate(jobs, work) {
  const since = performance.now()
  await work()
  return (jobs / (performance.now() - since)) * 1_000
}

async function drained(jobs, submit) {
  const { done } = part.expect(jobs)
  return rate(jobs, () => Promise.all([submit(), done]))
}

async function each(count, inFlight, one) {
  let next = 0
  const lane = async () => {
    while (next++ < count) await one()
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
}

const bulks = (jobs, delay) =>
  each(Math.ceil(jobs / BULK), BULKS_IN_FLIGHT, () =>
    part.addBulk(Array.from({ length: Math.min(BULK, jobs) }, delay)),
  )

async function answer(call, given) {
  try {
    process.send?.({ told: await calls[call](given) })
  } catch (error) {
    process.send?.({ error: error.stack ?? String(error) })
  }
}
