/** Fills a store of the built package until it fails, then a little more, and tells what became of each task: `node fill-store.mjs <folder>`. */
import { SqliteStore } from '../../dist/server/store/sqlite/sqlite-store.js'
import { DEFAULT_RETRY } from '../../dist/server/task/retry.js'

const store = new SqliteStore({
  folder: process.argv[2] ?? '',
  now: () => Date.now(),
  encodeResult: () => new Uint8Array(1),
})
await store.open()

const task = (id) => ({
  spec: {
    id,
    handler: 'work',
    payload: { kind: 'bytes', bytes: new Uint8Array(50_000) },
    when: { kind: 'now' },
    retry: DEFAULT_RETRY,
    attemptTimeoutMs: 0,
    priority: 0,
    concurrencyKey: '',
    atMostOnce: false,
    labels: {},
    traceparent: '',
    tracestate: '',
    origin: '',
    rememberIdForMs: 60_000,
  },
  state: 'scheduled',
  run: 1,
  attempts: 0,
  interruptions: 0,
  soloDeaths: 0,
  suspicions: 0,
  dueTime: 0,
  notBefore: 0,
  createTime: 0,
  startTimeUs: 0,
  startId: 0,
  paused: false,
  cancelRequested: false,
  manual: false,
  requestId: '',
  endTime: 0,
})

const stored = []
const refused = {}
for (let i = 0; i < 60; i++) {
  try {
    await store.insert([{ task: task(`t${i}`), near: true }])
    stored.push(`t${i}`)
  } catch (error) {
    refused[`t${i}`] = error.reason ?? String(error)
  }
}
const { states } = await store.stats()
console.log(JSON.stringify({ stored, refused, scheduled: states.scheduled }))
await store.close()
