/**
 * Receives every result once, also when the server or this program is killed in between.
 *
 *     node --import tsx examples/typescript/consumer.ts --address 127.0.0.1:50051 --journal results.jsonl
 *
 * Ends with 0 on SIGINT or SIGTERM, and with 3 when the place where it stopped is not in the server's log any more.
 */
import { parseArgs } from 'node:util'
import { createClient, CursorLostError } from 'punctual'
import { Journal } from './journal.js'

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '127.0.0.1:50051' },
    journal: { type: 'string', default: 'results.jsonl' },
  },
})

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

const journal = new Journal(values.journal)
const client = createClient({
  address: values.address,
  // a server that is down for longer than this ends the program only if it was down from the start
  deadlineMs: 5 * 60_000,
  onBreak: (error) => console.error(error.message),
})
try {
  await receive()
} catch (error) {
  if (!stop.signal.aborted) {
    console.error(error)
    process.exitCode = error instanceof CursorLostError ? 3 : 1
  }
} finally {
  await client.close()
  journal.close()
}

// the client resumes by itself when a stream breaks; the cursor in the journal is for when this program does
async function receive(): Promise<void> {
  const start = journal.cursor === undefined ? { from: 'earliest' as const } : { after: journal.cursor }
  for await (const batch of client.results({ ...start, signal: stop.signal }).batches()) {
    // most heartbeats bring nothing new
    if (batch.cursor === journal.cursor) continue
    journal.append({
      cursor: batch.cursor,
      results: batch.results.map((result) => ({
        sequence: result.sequence,
        taskId: result.taskId,
        run: result.run,
        outcome: result.outcome,
        output: result.outcome === 'succeeded' ? (result.output ?? null) : null,
      })),
    })
    for (const { sequence, taskId, outcome } of batch.results) console.log(sequence, taskId, outcome)
  }
}
