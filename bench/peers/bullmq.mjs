import { Queue, QueueEvents, Worker } from 'bullmq'
import { latenessLog, payload } from './payload.mjs'

const NAME = 'bench'
const connectionTo = ({ port }) => ({ host: '127.0.0.1', port, maxRetriesPerRequest: null })

export async function startWorker(settings) {
  const late = latenessLog()
  const worker = new Worker(
    NAME,
    async ({ data, delay, timestamp }) => {
      late.note(data.dueTime > 0 ? timestamp + (data.delayMs ?? delay) : 0)
      return data
    },
    { connection: connectionTo(settings), ...settings.worker },
  )
  await worker.waitUntilReady()
  return { takeLateness: () => late.take(), stop: () => worker.close() }
}

export async function startClient(settings) {
  const queue = new Queue(NAME, {
    connection: connectionTo(settings),
    defaultJobOptions: settings.job,
    // where jobs are removed when they are done, their events are all that tells of them
    ...(settings.job?.removeOnComplete && { streams: { events: { maxLen: 1_000_000 } } }),
  })
  const events = new QueueEvents(NAME, { connection: connectionTo(settings) })
  await Promise.all([queue.waitUntilReady(), events.waitUntilReady()])
  let ended = 0
  let tell = () => {}
  events.on('completed', () => {
    ended++
    tell()
  })
  // `delay` of a job is 0 once it is waiting, so it comes along in the data
  const job = (delayMs) => ({
    name: 'echo',
    data: { ...payload(delayMs > 0 ? 1 : 0), delayMs },
    opts: delayMs > 0 ? { delay: delayMs } : {},
  })
  return {
    add: (delayMs) => {
      const { name, data, opts } = job(delayMs)
      return queue.add(name, data, opts)
    },
    addBulk: (delays) => queue.addBulk(delays.map(job)),
    expect(count) {
      const goal = ended + count
      // By default Redis keeps the newest 10,000 events: of a burst some may be gone before they are read, so the number of completed jobs counts too.
      const completed = queue.getCompletedCount()
      return {
        done: new Promise((resolve) => {
          const look = async () => {
            if ((await queue.getCompletedCount()) - (await completed) >= count) end()
          }
          const looks = setInterval(() => void look(), 250)
          const end = () => {
            clearInterval(looks)
            ended = Math.max(ended, goal)
            resolve()
          }
          tell = () => ended >= goal && end()
        }),
      }
    },
    clear: () => queue.obliterate({ force: true }),
    async stop() {
      await events.close()
      await queue.close()
    },
  }
}
