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
  const cursor = await fill(server)
  const to = join(server.data, '..', 'copy.db')
  await beside(server, async () => {
    await punctual('backup', '--data', server.data, to)
    await punctual('check', server.data)
  })
  expect((await punctual('check', to)).stdout).not.toContain('broken')
  await server.stop('SIGKILL')
  await rm(server.data, { recursive: true })
  await mkdir(server.data)
  await copyFile(to, join(server.data, 'punctual.db'))
  await expectGoesOn(server, cursor)
})

it('a store is moved by an export of its server under load, and an import elsewhere', async () => {
  await using server = await ServerProcess.start(['--threads', '1'])
  const cursor = await fill(server)
  const out = join(server.data, '..', 'all.jsonl')
  await beside(server, () => punctual('export', server.data, '--out', out))
  await server.stop('SIGKILL')
  await rm(server.data, { recursive: true })
  await punctual('import', '--data', server.data, out)
  const { stdout } = await promisify(execFile)('sh', [
    '-c',
    `${process.execPath} ${COMMAND} export ${server.data} | cmp - ${out} && echo same`,
  ])
  expect(stdout).toBe('same\n')
  await expectGoesOn(server, cursor)
})

/** @returns the cursor after what has ended. */
async function fill(server: ServerProcess): Promise<string> {
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
  return await newestCursor(client)
}

/** Works while the server is busy. */
async function beside(server: ServerProcess, work: () => Promise<unknown>): Promise<void> {
  await using client = createClient({ address: server.address })
  const stop = new AbortController()
  const load = keepBusy(client, stop.signal)
  await work()
  stop.abort()
  expect(await load).toBeGreaterThan(0)
}

/** A server that starts on what was saved knows its tasks, takes new ones, and refuses cursors of the old log. */
async function expectGoesOn(server: ServerProcess, cursor: string): Promise<void> {
  await server.start()
  await using client = createClient({ address: server.address })
  expect((await client.get('done')).task.state).toBe('succeeded')
  await client.schedule('fibonacci', { n: 10 }, { id: 'new' })
  expect(await client.wait('new')).toMatchObject({ outcome: 'succeeded' })
  expect((await client.get('far-999')).task.state).toBe('scheduled')
  await expect(readFrom(client, cursor)).rejects.toMatchObject({ reason: 'LOG_REPLACED' })
  await punctual('check', server.data)
}

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
