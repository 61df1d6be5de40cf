import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, UnavailableError } from 'punctual'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeCertificates } from './certificates.js'
import { runPunctual } from './child-script.js'
import { ServerProcess } from './server-process.js'

describe('a server with mutual TLS', () => {
  it('is reached by client and command with a certificate, and by nobody else', async () => {
    const at = mkdtempSync(join(tmpdir(), 'punctual-tls-'))
    onTestFinished(() => rmSync(at, { recursive: true, force: true }))
    makeCertificates(at)
    const pem = (name: string): string => join(at, `${name}.pem`)
    const args = ['--tls-cert', pem('server'), '--tls-key', pem('server-key'), '--tls-ca', pem('ca')]
    await using server = await ServerProcess.start(args)
    const [ca, key, cert] = ['ca', 'client-key', 'client'].map((name) => readFileSync(pem(name)))
    if (ca === undefined || key === undefined || cert === undefined) throw new Error('no certificates')

    await using client = createClient({ address: server.address, tls: { ca, key, cert } })
    expect((await (await client.schedule('echo', 'hello')).result()).output).toBe('hello')
    await using stranger = createClient({ address: server.address, tls: { ca }, retry: false })
    await expect(stranger.handlers()).rejects.toBeInstanceOf(UnavailableError)
    await using plain = createClient({ address: server.address, retry: false })
    await expect(plain.handlers()).rejects.toBeInstanceOf(UnavailableError)

    const flags = ['--tls-ca', pem('ca'), '--tls-cert', pem('client'), '--tls-key', pem('client-key')]
    const words = ['handlers', '--address', server.address]
    expect((await runPunctual([...words, ...flags])).stdout).toContain('fibonacci')
    expect((await runPunctual([...words, '--tls-ca', pem('ca')])).code).toBe(5)
  })
})
