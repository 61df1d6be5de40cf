import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { ROOMS } from './architecture/house-rules.js'
import { judge } from './architecture/judge.js'
import { readSource } from './architecture/source-file.js'

describe('the house', () => {
  test('keeps its rules: who imports whom, what only one room touches, how long a file is', () => {
    const files = sourceFiles()
    expect(files).toContain('test/architecture.test.ts')
    expect(files.flatMap((path) => judge(readSource(path, readFileSync(path, 'utf8'))))).toEqual([])
  })
})

describe('an import is judged by the room of its file', () => {
  test.each([
    ['a room may import itself', 'server/store/sqlite-store.ts', `import { A } from './rows.js'`],
    ['and what the rules name', 'server/store/sqlite-store.ts', `import { A } from '../task/task.js'`],
    [
      'a port, though not the room around it',
      'server/results/log.ts',
      `import type { A } from '../store/task-store.js'`,
    ],
    ['compose knows every concrete part', 'server/compose.ts', `import { A } from './store/sqlite-store.js'`],
    [
      'the client knows types of handlers',
      'client/index.ts',
      `import type { A } from '../server/handlers/index.js'`,
    ],
    ['tests know everything', 'test/store.test.ts', `import { A } from '../server/store/rows.js'`],
    ['examples use the package by its name', 'examples/hello.ts', `import { A } from 'punctual/handlers'`],
  ])('%s', (_, path, text) => {
    expect(verdict(path, text)).toEqual([])
  })

  test.each([
    ['the vocabulary imports no room', 'server/task/task.ts', `import { A } from '../clock.js'`],
    ['nor a package', 'server/task/task.ts', `import { A } from 'zod'`],
    ['nor a module of Node', 'server/task/task.ts', `import { A } from 'node:fs'`],
    ['types count', 'server/store/rows.ts', `import type { A } from '../scheduler/scheduler.js'`],
    ['re-exports count', 'server/store/rows.ts', `export * from '../scheduler/scheduler.js'`],
    ['named re-exports count', 'server/store/rows.ts', `export { A } from '../scheduler/scheduler.js'`],
    ['imports for the side effect count', 'server/store/rows.ts', `import '../scheduler/scheduler.js'`],
    ['dynamic imports count', 'server/store/rows.ts', `await import('../scheduler/scheduler.js')`],
    ['import types count', 'server/store/rows.ts', `type A = import('../scheduler/scheduler.js').A`],
    [
      'past the port into the store',
      'server/scheduler/look.ts',
      `import { A } from '../store/sqlite-store.js'`,
    ],
    [
      'a name that begins like a port',
      'server/scheduler/look.ts',
      `import { A } from '../store/task-store-rows.js'`,
    ],
    [
      'generated code stays at the edges',
      'server/admission/rules.ts',
      `import { A } from '../../proto/generated/a.js'`,
    ],
    ['the client gets no server code', 'client/index.ts', `import { A } from '../server/handlers/index.js'`],
    ['not even beside a type', 'client/index.ts', `import { type A, b } from '../server/handlers/index.js'`],
    ['nor its packages', 'client/index.ts', `import { A } from 'pino'`],
    ['what ships knows no test', 'server/compose.ts', `import { A } from '../test/fake.js'`],
    ['examples reach into no folder', 'examples/hello.ts', `import { A } from '../server/handlers/index.js'`],
  ])('refused: %s', (_, path, text) => {
    expect(verdict(path, text)).toHaveLength(1)
  })

  test('a folder that is no room is refused', () => {
    expect(verdict('server/misc/a.ts', '')).toEqual([expect.stringContaining('no room server/misc')])
  })

  test('the message says where, what, and what would be right', () => {
    expect(verdict('server/clock.ts', `\nimport { A } from './store/rows.js'`)).toEqual([
      'server/clock.ts:2 imports server/store/rows.js: server/clock may import server/task',
    ])
  })
})

describe('what is reserved for one place', () => {
  test.each([
    ['timers', 'server/scheduler/a.ts', 'setTimeout(f, 1)'],
    ['timers by globalThis', 'server/scheduler/a.ts', 'globalThis.setTimeout(f, 1)'],
    ['timers handed on', 'server/scheduler/a.ts', 'use(setInterval)'],
    ['timers of Node', 'server/scheduler/a.ts', `import { setTimeout as sleep } from 'node:timers/promises'`],
    ['timers of signals', 'server/rpc/a.ts', 'AbortSignal.timeout(1)'],
    ['timers in tests', 'test/a.test.ts', 'setTimeout(f, 1)'],
    ['the time', 'server/scheduler/a.ts', 'Date.now()'],
    ['the time as a Date', 'server/scheduler/a.ts', 'new Date()'],
    ['the time, steady', 'server/telemetry/a.ts', 'performance.now()'],
    ['the environment', 'server/main.ts', 'process.env.HOME'],
    ['the environment, quoted', 'cli/main.ts', `process['env']`],
    ['the environment, taken apart', 'client/index.ts', 'const { env } = process'],
    ['gRPC codes', 'server/rpc/task-service.ts', `import { status } from '@grpc/grpc-js'`],
    ['gRPC codes by another name', 'client/index.ts', `import { status as code } from '@grpc/grpc-js'`],
    ['gRPC codes by a namespace', 'client/index.ts', `import * as grpc from '@grpc/grpc-js'\ngrpc.status.OK`],
    ['gRPC', 'server/results/a.ts', `import { Metadata } from '@grpc/grpc-js'`],
    ['worker pools', 'server/scheduler/a.ts', `import { Piscina } from 'piscina'`],
    ['SQLite', 'server/results/a.ts', `import { DatabaseSync } from '@photostructure/sqlite'`],
    ['the OpenTelemetry SDK', 'server/rpc/a.ts', `import { NodeSDK } from '@opentelemetry/sdk-node'`],
  ])('%s', (_, path, text) => {
    expect(verdict(path, text)).toHaveLength(1)
  })

  test.each([
    ['timers in the clock', 'server/clock.ts', 'setTimeout(f, 1)'],
    ['timers in the client, which has no clock', 'client/index.ts', 'setTimeout(f, 1)'],
    ['timers where real time is the point', 'test/outside/a.test.ts', 'setTimeout(f, 1)'],
    ['a method that is called like a timer', 'server/scheduler/a.ts', 'clock.setTimeout(f, 1)'],
    ['a key that is called like a timer', 'server/scheduler/a.ts', 'const a = { setTimeout: 1 }'],
    ['a promise of such a method', 'server/scheduler/a.ts', 'interface A { setTimeout(): void }'],
    ['a word in a comment or a text', 'server/scheduler/a.ts', `// Date.now()\nconst a = 'process.env'`],
    ['a Date of a known instant', 'server/rpc/a.ts', 'new Date(0)'],
    ['the environment in config', 'server/config/read-config.ts', 'process.env.HOME'],
    ['other parts of process', 'server/main.ts', 'process.exitCode = 1'],
    [
      'gRPC codes where they are translated',
      'server/rpc/status.ts',
      `import { status } from '@grpc/grpc-js'`,
    ],
    ['other parts of gRPC at the edge', 'client/index.ts', `import { Metadata } from '@grpc/grpc-js'`],
  ])('allowed: %s', (_, path, text) => {
    expect(verdict(path, text)).toEqual([])
  })
})

describe('the shape of a file', () => {
  test('300 lines are the most', () => {
    expect(verdict('server/task/a.ts', 'f()\n'.repeat(300))).toEqual([])
    expect(verdict('server/task/a.ts', 'f()\n'.repeat(301))).toEqual([expect.stringContaining('301 lines')])
    expect(verdict('proto/generated/a.ts', 'f()\n'.repeat(301))).toEqual([])
  })

  test('no any, wherever it hides', () => {
    const text = 'let a: any\nconst b = c as any\ntype D = Array<any>\nconst any = "any"'
    expect(verdict('server/task/a.ts', text)).toEqual(
      [1, 2, 3].map((n) => `server/task/a.ts:${n} says any: say what it is, or unknown`),
    )
  })

  test('no name that hides what a file is about', () => {
    expect(verdict('server/task/time-utils.ts', '')).toHaveLength(1)
    expect(verdict('server/task/utility-tariff.ts', '')).toEqual([])
  })
})

function verdict(path: string, text: string): string[] {
  return judge(readSource(path, text))
}

/** Every TypeScript file of every room; a room that does not exist yet has none. */
function sourceFiles(): string[] {
  const folders = new Set(Object.keys(ROOMS).map((room) => (room.startsWith('server/') ? 'server' : room)))
  return [...folders]
    .filter((folder) => existsSync(folder))
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /\.[cm]?[jt]s$/.test(path) && !path.includes('node_modules'))
}
