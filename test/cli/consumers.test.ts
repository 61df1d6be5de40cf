import { describe, expect, it, onTestFinished } from 'vitest'
import { Outcome, ResultFilter } from '../../proto/generated/punctual/v1/result.js'
import { Consumer, GetStatsResponse } from '../../proto/generated/punctual/v1/scheduler_service.js'
import { FakeService } from '../support/fake-service.js'
import { FakeTerminal, runCommand } from '../support/fake-terminal.js'
import { RpcError } from '../support/rpc-error.js'

/** 5 s before the terminal's clock. */
const ACTIVE = { seconds: 1_893_455_995n, nanos: 0 }

const audit = (): Consumer => ({
  ...Consumer.create(),
  name: 'audit',
  lag: 0n,
  connected: true,
  activeTime: ACTIVE,
})
const billing = (): Consumer => ({
  ...Consumer.create(),
  name: 'billing',
  cursor: 'c1',
  lag: 12_345n,
  lossy: true,
  includeAttempts: true,
  activeTime: ACTIVE,
  filter: {
    ...ResultFilter.create(),
    handlers: ['invoice', 'refund'],
    labels: { team: 'x\u001b[31m' },
    outcomes: [Outcome.FAILED],
  },
})

describe('punctual consumers', () => {
  it('shows a table: how far behind each is, whether somebody reads, and what', async () => {
    const { service, run } = await start()
    service.answer('listConsumers', () => ({ consumers: [audit(), billing()] }))
    const { out } = await run('consumers')
    expect(out.join('\n')).toMatchInlineSnapshot(`
      "consumer  behind           active   reads
      audit     0       reading  5 s ago  everything
      billing   12,345  away     5 s ago  handler invoice, refund; team=x\\u001b[31m; outcome failed; attempts too; lossy"
    `)
  })

  it('with --json prints an object a line', async () => {
    const { service, run } = await start()
    service.answer('listConsumers', () => ({ consumers: [audit(), billing()] }))
    const { out } = await run('consumers', '--json')
    expect(out.map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { name: 'audit', lag: 0, connected: true, filter: {}, include_attempts: false },
      { name: 'billing', cursor: 'c1', lag: 12_345, lossy: true, filter: { outcomes: ['failed'] } },
    ])
  })

  it('says that there are none, not on stdout', async () => {
    const { service, run } = await start()
    service.answer('listConsumers', () => ({ consumers: [] }))
    const { out, err, exitCode } = await run('consumers')
    expect({ out, err, exitCode }).toEqual({ out: [], err: ['no durable consumers'], exitCode: 0 })
  })

  it('are part of punctual stats', async () => {
    const { service, run } = await start()
    service.answer('getStats', () => ({ ...GetStatsResponse.create(), consumers: [audit()] }))
    const { out } = await run('stats')
    expect(out.join('\n')).toContain('audit     0       reading  5 s ago  everything')
  })
})

describe('punctual delete-consumer', () => {
  it('forgets the one that is named', async () => {
    const { service, run } = await start()
    service.answer('deleteConsumer', () => ({}))
    const { out, exitCode } = await run('delete-consumer', 'audit')
    expect(service.requests('deleteConsumer')).toEqual([{ consumer: 'audit' }])
    expect({ out, exitCode }).toEqual({ out: ['audit is forgotten'], exitCode: 0 })
  })

  it('of an unknown one ends with 3', async () => {
    const { service, run } = await start()
    service.answer('deleteConsumer', () => {
      throw new RpcError('NOT_FOUND', "no consumer 'x' is known", { reason: 'CONSUMER_NOT_FOUND' })
    })
    const { err, exitCode } = await run('delete-consumer', 'x')
    expect({ err, exitCode }).toEqual({ err: ["punctual: no consumer 'x' is known"], exitCode: 3 })
  })
})

async function start() {
  const service = await FakeService.start()
  onTestFinished(() => service.stop())
  const terminal = new FakeTerminal()
  const run = (...words: string[]) => runCommand(words, { terminal, service })
  return { service, terminal, run }
}
