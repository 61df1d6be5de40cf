import { describe, expect, it } from 'vitest'
import { createCatalogue } from '../../server/handlers/handler-catalogue.js'
import { loadHandlers } from '../../server/handlers/load-handlers.js'

const catalogue = createCatalogue(await loadHandlers(['examples/handlers/index.ts']))
const check = (name: string, input: unknown) =>
  catalogue.checkInput(name, { kind: 'json', text: JSON.stringify(input) })

describe('the example handlers', () => {
  it('load as an operator loads them', () => {
    expect(catalogue.list().map(({ name, lane }) => [name, lane])).toEqual([
      ['fibonacci', 'thread'],
      ['report.build', 'thread'],
      ['webhook.deliver', 'shared'],
    ])
  })

  it.each([
    ['fibonacci', { n: 30 }],
    ['report.build', { month: '2026-11' }],
    ['webhook.deliver', { url: 'https://example.com/hooks', event: 'order.paid', data: { order: 7 } }],
  ])('%s takes %j', async (name, input) => {
    expect(await check(name, input)).toEqual([])
  })

  it.each([
    ['fibonacci', { n: -1 }, 'task.input.n'],
    ['report.build', { month: '2026-13' }, 'task.input.month'],
    ['report.build', { month: '2026-11', format: 'pdf' }, 'task.input.format'],
    ['webhook.deliver', { url: 'file:///etc/passwd', event: 'order.paid', data: 1 }, 'task.input.url'],
    ['webhook.deliver', { url: 'https://example.com', event: 'Order Paid', data: 1 }, 'task.input.event'],
  ])('%s refuses %j at the door, naming %s', async (name, input, field) => {
    expect(await check(name, input)).toMatchObject([{ field }])
  })
})
