import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'punctual'
import { describe, expect, it } from 'vitest'
import { type JournalResult, readJournal } from '../../examples/typescript/journal.js'
import { ServerProcess } from './server-process.js'

/**
 * The consumers of examples/, by the command that starts them. Those in other languages need what `npm test` does not: the steps of CI that
 * have it name them by CONSUMER.
 */
const COMMAND = process.env.CONSUMER ?? `${process.execPath} --import tsx examples/typescript/consumer.ts`

const TASKS_A_PHASE = 100
const PHASE_MS = 1_500
const PATIENCE_MS = 60_000

describe(`a consumer: ${COMMAND}`, () => {
  it('has each result once and in order, whatever is killed: the server, its stream, itself', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'consumer-'))
    const journal = join(folder, 'results.jsonl')
    await using server = await ServerProcess.start()
    await using client = createClient({ address: server.address })
    let consumer = startConsumer(server.address, journal)
    try {
      /** Tasks whose results come while something happens in the middle of it. */
      const phase = async (disturb: () => Promise<void>): Promise<void> => {
        const schedule = (n: number) => client.schedule('echo', { n }, { delayMs: Math.random() * PHASE_MS })
        await Promise.all(Array.from({ length: TASKS_A_PHASE }, (_, n) => schedule(n)))
        await sleep(PHASE_MS / 2)
        await disturb()
      }
      await phase(async () => {
        await server.stop('SIGKILL')
        await server.start()
      })
      await phase(async () => {
        consumer.kill('SIGKILL')
        await once(consumer, 'close')
        consumer = startConsumer(server.address, journal)
      })
      await phase(async () => {
        expect(await server.stop('SIGTERM')).toBe(0)
        await server.start()
      })

      const received = await untilReceived(journal, 3 * TASKS_A_PHASE)
      const stored = []
      for await (const { sequence, taskId, run, ...result } of client.results({
        from: 'earliest',
        untilCaughtUp: true,
      }))
        stored.push({ sequence, taskId, run, output: result.outcome === 'succeeded' ? result.output : null })
      expect(
        received.map(({ sequence, taskId, run, output }) => ({ sequence, taskId, run, output })),
      ).toEqual(stored)
      expect(stored).toHaveLength(3 * TASKS_A_PHASE)

      consumer.kill('SIGTERM')
      expect(await once(consumer, 'close')).toEqual([0, null])
    } finally {
      consumer.kill('SIGKILL')
      await rm(folder, { recursive: true })
    }
  })
})

function startConsumer(address: string, journal: string): ChildProcess {
  const [program = '', ...args] = COMMAND.split(' ')
  return spawn(program, [...args, '--address', address, '--journal', journal], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

/** What the journal holds, once it holds so many results, or all that came in the time. */
async function untilReceived(journal: string, count: number): Promise<readonly JournalResult[]> {
  const since = performance.now()
  for (;;) {
    const text = await readFile(journal, 'utf8')
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    const results = readJournal(whole).flatMap((entry) => entry.results)
    if (results.length >= count || performance.now() - since > PATIENCE_MS) return results
    await sleep(100)
  }
}
