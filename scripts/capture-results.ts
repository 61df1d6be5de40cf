import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
import { createClient } from '../client/index.js'

/**
 * npx tsx scripts/capture-results.ts
 *
 * Takes the captures of docs/results.md anew: the built command against a server of its own, on a terminal of `script` (util-linux), while tasks run and the server is
 * stopped and started once. What it printed is written between the page's two marks.
 */
const PORT = 50_577
const PAGE = 'docs/results.md'
const COMMAND = 'punctual results --follow'
const folder = mkdtempSync(join(tmpdir(), 'punctual-capture-'))
const address = `127.0.0.1:${PORT}`

function serve() {
  const args = ['dist/cli/main.js', 'serve', '--listen', address, '--data', join(folder, 'data')]
  return spawn(process.execPath, args, { stdio: 'ignore' })
}

async function untilServing(): Promise<void> {
  await using client = createClient({ address, retry: false })
  for (;;) {
    try {
      await client.stats()
      return
    } catch {
      await sleep(100)
    }
  }
}

let server = serve()
await untilServing()
const typescript = join(folder, 'typescript')
const watched = `node dist/cli/main.js results --follow --address ${address}`
const terminal = spawn(
  'script',
  ['--quiet', '--flush', '--command', `stty columns 110; ${watched}`, typescript],
  {
    stdio: ['pipe', 'ignore', 'inherit'],
  },
)
await sleep(1_500)
{
  await using client = createClient({ address })
  const reports = await Promise.all(
    [24, 27, 30].map((n) => client.schedule('fibonacci', { n }, { id: `report-${n}`, delayMs: 300 })),
  )
  await Promise.all(reports.map((task) => task.result()))
  const rhythm = await client.schedule('echo', 'tick', {
    id: 'heartbeat',
    recurrence: { everyMs: 500, maxRuns: 2 },
  })
  await rhythm.ended()
  const slow = await client.schedule('sleep', { ms: 60_000 }, { id: 'nap', attemptTimeoutMs: 400 })
  await slow.ended()
  const dropped = await client.schedule('echo', 'never', { id: 'invoice-17', delayMs: 60_000 })
  await dropped.cancel()
}
await sleep(500)
server.kill('SIGTERM')
await once(server, 'exit')
server = serve()
await untilServing()
{
  await using client = createClient({ address })
  await (await client.schedule('fibonacci', { n: 20 }, { id: 'after-the-restart' })).result()
}
await sleep(1_500)
// Ctrl-C
terminal.stdin.write('\u0003')
await once(terminal, 'exit')
server.kill('SIGTERM')
await once(server, 'exit')

const seen = stripVTControlCharacters(readFileSync(typescript, 'utf8').replaceAll('\r', ''))
  .split('\n')
  .filter((line) => line.trim() !== '' && !line.startsWith('Script ') && line !== '^C')
rmSync(folder, { recursive: true })
const page = readFileSync(PAGE, 'utf8')
const captured = `<!-- capture -->\n\`\`\`text\n$ ${COMMAND}\n${seen.join('\n')}\n\`\`\`\n<!-- end of capture -->`
writeFileSync(
  PAGE,
  page.replace(/<!-- capture -->[^]*?<!-- end of capture -->/, () => captured),
)
console.log(seen.join('\n'))
