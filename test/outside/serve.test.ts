import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, credentials, type ServiceError, status } from '@grpc/grpc-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import {
  ScheduleRequest,
  SchedulerServiceService as rpc,
} from '../../proto/generated/punctual/v1/scheduler_service.js'
import { TaskSpec } from '../../proto/generated/punctual/v1/task.js'
import { makeCertificates } from './certificates.js'
import { ServerProcess } from './server-process.js'

const COMMAND = 'dist/cli/main.js'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'punctual-serve-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Runs the command to its end. */
async function run(...args: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  const [out, err]: Buffer[][] = [[], []]
  child.stdout.on('data', (chunk: Buffer) => out?.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err?.push(chunk))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, stdout: String(Buffer.concat(out ?? [])), stderr: String(Buffer.concat(err ?? [])) }
}

function call(
  address: string,
  path: string,
  bytes: Buffer,
  secure = credentials.createInsecure(),
): Promise<Buffer> {
  const client = new Client(address, secure)
  onTestFinished(() => client.close())
  const same = (written: Buffer): Buffer => written
  return new Promise((resolve, reject) => {
    const deadline = Date.now() + 30_000
    client.makeUnaryRequest(
      path,
      same,
      same,
      bytes,
      { deadline },
      (error: ServiceError | null, answer?: Buffer) => {
        if (error) reject(error)
        else resolve(answer ?? Buffer.alloc(0))
      },
    )
  })
}

function sleepTask(id: string, ms: number): Buffer {
  const payload = { $case: 'inputJson' as const, value: JSON.stringify({ ms }) }
  const task = { ...TaskSpec.create(), id, handler: 'sleep', payload }
  return Buffer.from(ScheduleRequest.encode({ ...ScheduleRequest.create(), task }).finish())
}

describe('punctual serve', () => {
  it('drains at SIGTERM: what runs ends and is stored, and the exit code says that all went well', async () => {
    await using server = await ServerProcess.start()
    await call(server.address, rpc.schedule.path, sleepTask('a', 1_500))
    expect(await server.stop('SIGTERM')).toBe(0)
    await server.start()
    const request = rpc.getTask.requestSerialize({ id: 'a', outputFormat: 0 })
    const { result } = rpc.getTask.responseDeserialize(await call(server.address, rpc.getTask.path, request))
    expect(result?.attempts).toBe(1)
    expect(result?.interruptedAttempts).toBe(0)
  })

  it('cuts off what runs longer than the drain limit, says so by its exit code, and runs it again after a restart', async () => {
    await using server = await ServerProcess.start(['--drain-limit', '500ms'])
    await call(server.address, rpc.schedule.path, sleepTask('a', 3_000))
    expect(await server.stop('SIGTERM')).toBe(3)
    await server.start()
    const wait = { seconds: 60n, nanos: 0 }
    const request = rpc.waitForResult.requestSerialize({ taskId: 'a', run: undefined, wait, outputFormat: 0 })
    const { task } = rpc.waitForResult.responseDeserialize(
      await call(server.address, rpc.waitForResult.path, request),
    )
    expect(task).toMatchObject({ state: 3, attempts: 2, interruptedAttempts: 1 })
  })

  it('says where it serves, and that it serves the demo handlers', async () => {
    await using server = await ServerProcess.start()
    // the port answers before the line that says so has come through the pipe
    await server.logged('no --handlers given: serving the demo handlers fibonacci, echo and sleep')
    expect(server.log).toContain(`serving on ${server.address} without TLS`)
  })

  it('lists every setting in its help, with its variable', async () => {
    const { code, stdout } = await run('serve', '--help')
    expect(code).toBe(0)
    for (const [, variable] of readFileSync('docs/settings.md', 'utf8').matchAll(/`(PUNCTUAL_[A-Z_]+)`/g)) {
      expect(stdout).toContain(variable)
    }
  })

  it.each<[string, readonly string[], number, RegExp]>([
    ['an unknown flag', ['--no-such-flag'], 2, /unknown option/],
    [
      'a setting that cannot be',
      ['--threads', 'many', '--listen', 'x'],
      2,
      /--listen must be host:port.*\n.*--threads must be/,
    ],
    ['an open address without TLS', ['--listen', '0.0.0.0:0'], 2, /--insecure/],
    [
      'a handlers module that is not there',
      ['--handlers', './no-such.js'],
      1,
      /no handlers module .*no-such\.js/,
    ],
    [
      'a certificate that is not there',
      ['--tls-cert', 'c.pem', '--tls-key', 'k.pem'],
      1,
      /--tls-cert: cannot read c\.pem/,
    ],
    ['a data folder that is a file', ['--data', 'package.json'], 1, /package\.json/],
  ])('refuses to start on %s, with one line that says what is wrong', async (_, args, code, line) => {
    const ended = await run('serve', '--data', ':memory:', '--listen', '127.0.0.1:0', ...args)
    expect(ended.stderr).toMatch(line)
    expect(ended.code).toBe(code)
  })

  it('refuses an address that is taken, and a data folder that another server uses', async () => {
    await using server = await ServerProcess.start()
    const taken = await run('serve', '--data', ':memory:', '--listen', server.address)
    expect(taken).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`cannot listen on ${server.address}`) as string,
    })
    const data = /data: (.*)/.exec(server.log)?.[1] ?? ''
    const locked = await run('serve', '--data', data, '--listen', '127.0.0.1:0')
    expect(locked).toMatchObject({ code: 1, stderr: expect.stringContaining(data) as string })
  })

  it('serves with TLS, and with mutual TLS only those who have a certificate', async () => {
    const at = folder()
    const pem = (name: string): string => join(at, `${name}.pem`)
    makeCertificates(at)
    const args = ['--tls-cert', pem('server'), '--tls-key', pem('server-key'), '--tls-ca', pem('ca')]
    await using server = await ServerProcess.start(args)
    const [ca, key, cert] = ['ca', 'client-key', 'client'].map((name) => readFileSync(pem(name)))
    const info = Buffer.alloc(0)
    const known = credentials.createSsl(ca, key, cert)
    expect(await call(server.address, rpc.getServerInfo.path, info, known)).toBeInstanceOf(Buffer)
    const stranger = call(server.address, rpc.getServerInfo.path, info, credentials.createSsl(ca))
    await expect(stranger).rejects.toMatchObject({ code: status.UNAVAILABLE })
  })
})
