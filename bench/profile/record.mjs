import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'
import { isMainThread } from 'node:worker_threads'

/**
 * Loaded by Node before anything else (`--import`): records every thread of its process between two signals SIGUSR2, so that what happens before (start, compilation) is
 * not in the profile. Each thread is reached through the inspector, so that threads need not know of it. Writes `PUNCTUAL_PROFILE/PID-NUMBER.json`.
 *
 * JavaScript, because it is loaded by built programs that know nothing of TypeScript.
 */

/** Each sample costs a thread about 8 µs. */
const SAMPLE_US = 500
const ALLOCATION_BYTES = 16_384
/** The kernel's count for the thread that asks. */
const CPU_US = `(() => {
  try {
    return Number(process.getBuiltinModule('fs').readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1000
  } catch { return 0 }
})()`

/** @typedef {(method: string, parameters?: object) => Promise<any>} Post */
/** @typedef {{ readonly url: string, readonly post: Post, cpuUs: number }} Thread */

if (isMainThread) recordOnSignal()

function recordOnSignal() {
  const folder = process.env['PUNCTUAL_PROFILE'] ?? '.'
  const isOfAllocations = process.env['PUNCTUAL_ALLOCATIONS'] === 'yes'
  /** @type {Thread[] | undefined} */
  let recording
  process.on('SIGUSR2', () => void toggle())

  async function toggle() {
    if (recording === undefined) {
      recording = await threadsOf()
      await Promise.all(recording.map((thread) => begin(thread, isOfAllocations)))
    } else {
      const answers = await Promise.all(recording.map((thread) => end(thread, isOfAllocations)))
      answers.forEach((answer, i) =>
        writeFileSync(`${folder}/${process.pid}-${i}.json`, JSON.stringify(answer)),
      )
    }
  }
}

/** @param {Thread} thread @param {boolean} isOfAllocations */
async function begin(thread, isOfAllocations) {
  const { post } = thread
  if (isOfAllocations) {
    const ofGarbageToo = { includeObjectsCollectedByMajorGC: true, includeObjectsCollectedByMinorGC: true }
    await post('HeapProfiler.startSampling', { samplingInterval: ALLOCATION_BYTES, ...ofGarbageToo })
  } else {
    await post('Profiler.enable')
    await post('Profiler.setSamplingInterval', { interval: SAMPLE_US })
    await post('Profiler.start')
  }
  thread.cpuUs = await cpuOf(post)
}

/** @param {Thread} thread @param {boolean} isOfAllocations */
async function end({ url, post, cpuUs }, isOfAllocations) {
  const used = (await cpuOf(post)) - cpuUs
  const { profile } = await post(isOfAllocations ? 'HeapProfiler.stopSampling' : 'Profiler.stop')
  return { url, cpuUs: used, profile }
}

/** @param {Post} post @returns {Promise<number>} */
async function cpuOf(post) {
  return (await post('Runtime.evaluate', { expression: CPU_US })).result.value
}

/** The main thread and its workers. @returns {Promise<Thread[]>} */
async function threadsOf() {
  const session = new Session()
  session.connect()
  /** @type {Post} */
  const post = (method, parameters = {}) =>
    new Promise((resolve, reject) => {
      session.post(method, parameters, (error, answer) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(answer),
      )
    })
  /** @type {Thread[]} */
  const threads = [{ url: 'main', post, cpuUs: 0 }]
  /** @type {Map<string, (answer: any) => void>} */
  const waiting = new Map()
  let sent = 0
  session.on('NodeWorker.receivedMessageFromWorker', ({ params }) => {
    const { id, result } = JSON.parse(params.message)
    waiting.get(`${params.sessionId} ${id}`)?.(result)
  })
  session.on('NodeWorker.attachedToWorker', ({ params: { sessionId, workerInfo } }) => {
    /** @type {Post} */
    const toWorker = (method, parameters = {}) =>
      new Promise((resolve) => {
        const id = ++sent
        waiting.set(`${sessionId} ${id}`, resolve)
        void post('NodeWorker.sendMessageToWorker', {
          sessionId,
          message: JSON.stringify({ id, method, params: parameters }),
        })
      })
    threads.push({ url: workerInfo.url, post: toWorker, cpuUs: 0 })
  })
  await post('NodeWorker.enable', { waitForDebuggerOnStart: false })
  return threads
}
