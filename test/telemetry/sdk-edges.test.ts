import { diag } from '@opentelemetry/api'
import { describe, expect, it } from 'vitest'
import type { Log, LogFacts } from '../../server/task/log.js'
import { logTheSdk } from '../../server/telemetry/sdk-log.js'
import { stopWithin } from '../../server/telemetry/sdk-stop.js'
import { isOn, telemetrySettings } from '../../server/telemetry/telemetry-settings.js'
import { startTelemetry, TELEMETRY_OFF } from '../../server/telemetry/telemetry.js'
import { DUE } from './fake-executor.js'
import { FixedClock } from './fixed-clock.js'

describe('stopping', () => {
  it('waits for everything', async () => {
    const { clock, log, lines } = parts()
    let stopped = false
    const slow = Promise.resolve().then(() => void (stopped = true))
    expect(await stopWithin(1_000, [slow, Promise.resolve()], { clock, log })).toBe(true)
    expect(stopped).toBe(true)
    expect(lines).toEqual([])
    expect(clock.timers).toMatchObject([{ delayMs: 1_000, cancelled: true }])
  })

  it('gives up at its limit, and says that something is lost', async () => {
    const { clock, log, lines } = parts()
    const stopping = stopWithin(1_000, [new Promise(() => {})], { clock, log })
    clock.timers[0]?.fn()
    expect(await stopping).toBe(false)
    expect(lines).toEqual([
      ['warn', 'telemetry did not stop in time: what it had not sent is lost', { limitMs: 1_000 }],
    ])
  })

  it('says what could not be sent: the SDK rejects with lists of errors', async () => {
    const { clock, log, lines } = parts()
    const errors = [new Error('connect ECONNREFUSED 127.0.0.1:4318'), new Error('aborted')]
    // oxlint-disable-next-line prefer-promise-reject-errors -- so does the SDK
    expect(await stopWithin(1_000, [Promise.reject(errors)], { clock, log })).toBe(false)
    expect(lines.map(([level, , facts]) => [level, facts])).toEqual(
      errors.map((error) => ['warn', { error }]),
    )
  })
})

describe('what the SDK has to say', () => {
  it('goes into the server’s log, at most once a minute, with the number of those held back', () => {
    const { clock, log, lines } = parts()
    logTheSdk(log, clock, 'warn')
    for (let n = 0; n < 100; n++) diag.error('export failed', { code: 14 })
    clock.micros += 60_000_000
    diag.error('export failed', new Error('refused'))
    expect(lines).toEqual([
      ['error', 'telemetry has a problem', { says: 'export failed {"code":14}', heldBack: 0 }],
      ['error', 'telemetry has a problem', { says: 'export failed refused', heldBack: 99 }],
    ])
    diag.disable()
  })

  it('is taken as it comes: also an object that holds itself', () => {
    const { clock, log, lines } = parts()
    logTheSdk(log, clock, 'debug')
    const processor: Record<string, unknown> = { headers: { authorization: 'S3CRET' } }
    processor['self'] = processor
    diag.debug('exporting', processor)
    expect(String(lines.at(-1)?.[2]?.['says'])).toContain('exporting {"headers":"[left out]","self":')
    diag.disable()
  })

  it('is heard from its level on', () => {
    const { clock, log, lines } = parts()
    logTheSdk(log, clock, 'error')
    diag.warn('unsupported')
    logTheSdk(log, clock, 'debug')
    diag.debug('details')
    expect(lines.at(-1)).toEqual(['debug', 'telemetry', { says: 'details' }])
    expect(lines.flat()).not.toContainEqual({ says: 'unsupported' })
    diag.disable()
  })
})

describe('telemetry that nobody asked for', () => {
  it('wraps nothing and is done at once', async () => {
    const { clock, log } = parts()
    const settings = telemetrySettings({})
    expect(isOn(settings)).toBe(false)
    const telemetry = await startTelemetry(settings, { clock, log, version: '1', isLoaded: () => true })
    expect(telemetry).toBe(TELEMETRY_OFF)
    const port = {} as never
    expect(telemetry.store(port)).toBe(port)
    expect(telemetry.executor(port)).toBe(port)
    expect(await telemetry.shutdown(0)).toBe(true)
  })
})

function parts() {
  const lines: [level: string, message: string, facts: LogFacts | undefined][] = []
  const at = (level: string) => (message: string, facts?: LogFacts) =>
    void lines.push([level, message, facts])
  const log: Log = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
  return { clock: new FixedClock(DUE), log, lines }
}
