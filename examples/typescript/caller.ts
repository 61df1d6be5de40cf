/**
 * Schedules one task and waits for its result.
 *
 *     node --import tsx examples/typescript/caller.ts --address 127.0.0.1:50051 --n 30 --delay 1
 */
import { parseArgs } from 'node:util'
import { createClient, TaskFailedError } from 'punctual'
import type { handlers } from '../handlers/index.js'

const { values } = parseArgs({
  options: {
    address: { type: 'string', default: '127.0.0.1:50051' },
    n: { type: 'string', default: '30' },
    /** Seconds. */
    delay: { type: 'string', default: '1' },
  },
})

// names, inputs and outputs are typed by the handlers: client.schedule('fibonaci', ...) does not compile
const client = createClient<typeof handlers>({ address: values.address })
try {
  const task = await client.schedule(
    'fibonacci',
    { n: Number(values.n) },
    { delayMs: Number(values.delay) * 1_000, labels: { caller: 'typescript' } },
  )
  console.log(`${task.id} is scheduled`)
  const result = await task.result()
  console.log(`started ${result.latenessMs} ms after it was due, on ${result.workerId}`)
  console.log(result.output)
} catch (error) {
  if (!(error instanceof TaskFailedError)) throw error
  console.error(error.message)
  process.exitCode = 1
} finally {
  await client.close()
}
