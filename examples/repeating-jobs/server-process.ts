import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A server that was started. */
export interface ServerProcess {
  readonly address: string
  stop(): Promise<void>
}

/** Starts `punctual serve` as a process of its own, with so many workers. It keeps nothing when it ends. */
export async function startServerProcess(workers: number): Promise<ServerProcess> {
  const root = dirname(createRequire(import.meta.url).resolve('punctual/package.json'))
  const handlers = fileURLToPath(new URL('handlers.ts', import.meta.url))
  const settings = ['--listen', '127.0.0.1:0', '--data', ':memory:', '--threads', String(workers)]
  // tsx only because the handlers are TypeScript
  const program = ['--import', import.meta.resolve('tsx'), join(root, 'dist/cli/main.js')]
  const server = spawn(process.execPath, [...program, 'serve', ...settings, '--handlers', handlers], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  // whatever happens to this program, nothing is left running
  process.once('exit', () => server.kill('SIGKILL'))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  const ended = once(server, 'close')
  let log = ''
  const address = await new Promise<string>((resolve, reject) => {
    for (const stream of [server.stdout, server.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        log += chunk.toString()
        const found = /serving on (\S+)/.exec(log)?.[1]
        if (found !== undefined) resolve(found)
      })
    }
    server.once('close', () => reject(new Error(`the server did not start:\n${log}`)))
  })
  const stop = async (): Promise<void> => {
    server.kill('SIGTERM')
    await ended
  }
  return { address, stop }
}
