import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { settingsHelp, settingsPage } from '../../server/config/help.js'
import { ConfigError, type ConfigSources, readConfig } from '../../server/config/read-config.js'
import type { Settings } from '../../server/config/settings.js'

function settings(flags: ConfigSources['flags'], env: Record<string, string> = {}): Settings {
  return readConfig({ flags, env }).settings
}

function problems(flags: ConfigSources['flags'], env: Record<string, string> = {}): readonly string[] {
  try {
    readConfig({ flags, env })
    return []
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
}

function file(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'punctual-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'punctual.toml')
  writeFileSync(path, text)
  return path
}

describe('settings', () => {
  it('have defaults: loopback, durable, drained within 30 s', () => {
    expect(settings({})).toMatchObject({
      data: 'data',
      listen: { host: '127.0.0.1', port: 50_051 },
      durability: 'full',
      insecure: false,
      drainLimit: 30_000,
      maxInputBytes: 1_048_576,
      handlers: undefined,
    })
  })

  it('come from flags, then the environment, then the file', () => {
    const config = file('max_streams = 5\nthreads = 6\nwindow = "2m"\n')
    const env = { PUNCTUAL_CONFIG: config, PUNCTUAL_THREADS: '7', PUNCTUAL_MAX_STREAMS: '8' }
    expect(settings({ maxStreams: '9' }, env)).toMatchObject({ maxStreams: 9, threads: 7, window: 120_000 })
  })

  it.each([
    ['1.5s', 1_500],
    ['250ms', 250],
    ['2h30m', 9_000_000],
    ['0s', 0],
  ])('read a time: %s', (text, ms) => {
    expect(settings({ drainLimit: text }).drainLimit).toBe(ms)
  })

  it('refuse what is not 0 and would become it', () => {
    expect(problems({ drainLimit: '0.4ms' })).toEqual([
      expect.stringMatching(/^--drain-limit must not be less than a millisecond/),
    ])
  })

  it.each(['abc', '5', '', '-1s', '1x', '1s 5', '99999h'])(
    'refuse what is no time: "%s" never becomes 0 (C130)',
    (text) => {
      expect(problems({ drainLimit: text })).toEqual([
        expect.stringMatching(/^--drain-limit must be a time such as 250ms, 1\.5s or 2h30m/),
      ])
    },
  )

  it.each([
    ['65536', 65_536],
    ['500kB', 500_000],
    ['1MiB', 1_048_576],
  ])('read a size: %s', (text, size) => {
    expect(settings({ maxInputBytes: text }).maxInputBytes).toBe(size)
  })

  it.each([
    ['[::1]:0', { host: '::1', port: 0 }],
    ['localhost:1', { host: 'localhost', port: 1 }],
  ])('read an address: %s', (text, address) => {
    expect(settings({ listen: text }).listen).toEqual(address)
  })

  it('name everything that is wrong at once, where it stood and what would be right', () => {
    const config = file('threads = 0\nmax_streems = 5\n')
    const wrong = problems({ config, listen: 'nowhere', scheduler: 'fifo' }, { PUNCTUAL_LOG_LEVEL: 'loud' })
    expect(wrong).toEqual([
      expect.stringContaining('has no setting "max_streems"; there are: data, durability, listen,'),
      expect.stringContaining('--listen must be host:port, such as 127.0.0.1:50051'),
      '--scheduler must be one of: heap, dynamic-sleep, polling, worker-pool; it is "fifo"',
      expect.stringMatching(/^threads in the file must be a whole number from 1 to 1,024; it is 0$/),
      'PUNCTUAL_LOG_LEVEL must be one of: debug, info, warn, error, silent; it is "loud"',
    ])
  })

  it('say which file cannot be read, and why', () => {
    expect(problems({ config: '/nowhere.toml' })).toEqual([
      expect.stringMatching(/^the file \/nowhere\.toml cannot be read as TOML: ENOENT/),
    ])
    expect(problems({ config: file('a = [') })).toEqual([expect.stringMatching(/cannot be read as TOML/)])
  })

  it('let nobody in from outside by accident', () => {
    expect(problems({ listen: '0.0.0.0:50051' })).toEqual([
      expect.stringContaining('--tls-cert and --tls-key'),
    ])
    expect(problems({ listen: '0.0.0.0:50051', insecure: true })).toEqual([])
    expect(problems({ listen: '0.0.0.0:50051', tlsCert: 'c', tlsKey: 'k' })).toEqual([])
    for (const listen of ['localhost:1', '127.0.0.2:1', '[::1]:1']) expect(problems({ listen })).toEqual([])
  })

  it('are checked together', () => {
    expect(problems({ tlsCert: 'c' })).toEqual([expect.stringContaining('belong together')])
    expect(problems({ tlsCa: 'c' })).toEqual([expect.stringContaining('--tls-ca')])
    expect(problems({ maxInputBytes: '4MiB' })).toEqual([
      expect.stringContaining('does not fit into a message'),
    ])
  })

  it('pass on only what handlers may see of the environment, and what telemetry reads', () => {
    const env = { HOOK_KEY: 'k', SECRET: 's', OTEL_SERVICE_NAME: 'x' }
    const config = readConfig({ flags: { handlerEnv: 'HOOK_KEY,MISSING' }, env })
    expect(config.handlerEnv).toEqual({ HOOK_KEY: 'k' })
    expect(config.telemetryEnv).toEqual({ OTEL_SERVICE_NAME: 'x' })
  })

  it('warn of a variable that looks like a setting and is none', () => {
    const { warnings } = readConfig({ flags: {}, env: { PUNCTUAL_TREADS: '4', PUNCTUAL_ADDRESS: 'x:1' } })
    expect(warnings).toEqual([expect.stringContaining('PUNCTUAL_TREADS')])
  })

  it('are all in the help, and on the page of the docs (vitest -u writes it)', async () => {
    const help = settingsHelp()
    expect(help.map(({ flags }) => flags)).toContain('--tls-cert <file>')
    for (const { env } of help) expect(settingsPage()).toContain(env)
    await expect(settingsPage()).toMatchFileSnapshot('../../docs/settings.md')
  })
})
