import { describe, expect, it } from 'vitest'
import { type Sale, salesOf } from '../../examples/handlers/sales.js'
import { buildSalesReport, toCsv } from '../../examples/handlers/sales-report.js'

const never = new AbortController().signal

describe('a sales report', () => {
  const sales: readonly Sale[] = [
    { day: 3, product: 'hammer', quantity: 2, unitCents: 2_490 },
    { day: 3, product: 'anvil', quantity: 1, unitCents: 8_900 },
    { day: 9, product: 'hammer', quantity: 1, unitCents: 2_490 },
    { day: 9, product: 'file, half-round', quantity: 1, unitCents: 5 },
  ]

  it('adds up by product, the largest revenue first, and names the best day', async () => {
    expect(await buildSalesReport(sales, never)).toEqual({
      sales: 4,
      revenueCents: 16_375,
      bestDay: 3,
      products: [
        { product: 'anvil', sales: 1, units: 1, revenueCents: 8_900, medianCents: 8_900 },
        { product: 'hammer', sales: 2, units: 3, revenueCents: 7_470, medianCents: 2_490 },
        { product: 'file, half-round', sales: 1, units: 1, revenueCents: 5, medianCents: 5 },
      ],
    })
  })

  it('is CSV that a spreadsheet reads', async () => {
    expect(toCsv(await buildSalesReport(sales, never)).split('\r\n')).toEqual([
      'product,sales,units,revenue,median sale',
      'anvil,1,1,89.00,89.00',
      'hammer,2,3,74.70,24.90',
      '"file, half-round",1,1,0.05,0.05',
      '',
    ])
  })

  it('of no sales is empty', async () => {
    expect(await buildSalesReport([], never)).toEqual({ sales: 0, revenueCents: 0, bestDay: 0, products: [] })
  })

  it('is the same each time for the same month, so that a repeated attempt changes nothing', async () => {
    const build = (month: string) => buildSalesReport(salesOf(month, 500), never)
    expect(await build('2026-11')).toEqual(await build('2026-11'))
    expect(await build('2026-11')).not.toEqual(await build('2026-12'))
  })

  it('is given up soon after its signal aborts', async () => {
    const stop = new AbortController()
    let taken = 0
    function* endless(): Generator<Sale> {
      while (true) {
        if (++taken === 25_000) stop.abort(new Error('timed out'))
        yield { day: 1, product: 'anvil', quantity: 1, unitCents: 1 }
      }
    }
    await expect(buildSalesReport(endless(), stop.signal)).rejects.toThrow('timed out')
    expect(taken).toBeLessThan(40_000)
  })
})
