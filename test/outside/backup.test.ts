import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { createClient, type SchedulerClient } from 'punctual'
import { expect, it } from 'vitest'
import { ServerProcess } from './server-process.js'

const run = promisify(execFile)
const COMMAND = 'dist/cli/main.js'
const punctual = (...args: string[]) => run(process.execPath, [COMMAND, ...args])
const FAR_MS = 86_400_000

it('a backup of a server under load is whole, starts elsewhere with its tasks, and refuses cursors of the old log', async () => {
  await using server = await ServerProcess.start(['--threads', '1'])
  await using client = createClient({ address: server.address })
  await client.scheduleMany(
    Array.from({ length: 1_000 }, (_, n) => ({
      handler: 'fibonacci',
      input: { n: 1 },
      id: `far-${n}`,
      delayMs: FAR_MS,
    })),
  )
  await client.schedule('fibonacci', { n: 10 }, { id: 'done' })
  await client.wait('done')
  const cursor = await newestCursor(client)

  const stop = new AbortController()
  const load = keepBusy(client, stop.signal)
  const to = join(server.data, '..', 'copy.db')
  await punctual('backup', '--data', server.data, to)
  await punctual('check', server.data)
  stop.abort()
  expect(await load).toBeGreaterThan(0)
  await punctual('check', to)

  // the old server is gone, its data too
  await server.stop('SIGKILL')
  await rm(server.data, { recursive: true })
  await mkdir(server.data)
  await copyFile(to, join(server.data, 'punctual.db'))
  await server.start()
  await using again = createClient({ address: server.address })
  expect((await again.get('done')).task.state).toBe('succeeded')
  await again.schedule('fibonacci', { n: 10 }, { id: 'new' })
  expect(await again.wait('new')).toMatchObject({ outcome: 'succeeded' })
  expect((await again.get('far-999')).task.state).toBe('scheduled')
  await expect(readFrom(again, cursor)).rejects.toMatchObject({ reason: 'LOG_REPLACED' })
  await punctual('check', server.data)
})

/** Tasks one after another until it is told to stop; how many. */
async function keepBusy(client: SchedulerClient, signal: AbortSignal): Promise<number> {
  let n = 0
  while (!signal.aborted) {
    await client.schedule('fibonacci', { n: 1 }, { id: `load-${n}` })
    n += 1
  }
  return n
}

async function newestCursor(client: SchedulerClient): Promise<string> {
  const stream = client.results({ from: 'earliest', untilCaughtUp: true })
  for await (const _ of stream);
  return stream.cursor ?? ''
}

async function readFrom(client: SchedulerClient, after: string): Promise<void> {
  for await (const _ of client.results({ after, untilCaughtUp: true }));
}
