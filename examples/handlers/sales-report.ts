import { setImmediate as breathe } from 'node:timers/promises'
import type { Sale } from './sales.js'

export interface ProductLine {
  readonly product: string
  readonly sales: number
  readonly units: number
  readonly revenueCents: number
  readonly medianCents: number
}

export interface SalesReport {
  readonly sales: number
  readonly revenueCents: number
  /** The day with the largest revenue; the earlier one when two are equal. */
  readonly bestDay: number
  readonly products: readonly ProductLine[]
}

/** After so many sales the thread's event loop gets a turn: until then a stop cannot be heard. */
const SALES_A_TURN = 10_000

/** Adds up sales by product. Throws the signal's reason soon after it aborts. */
export async function buildSalesReport(sales: Iterable<Sale>, signal: AbortSignal): Promise<SalesReport> {
  const byProduct = new Map<string, { units: number; cents: number[] }>()
  const byDay = new Map<number, number>()
  let count = 0
  for (const sale of sales) {
    const cents = sale.quantity * sale.unitCents
    const line = byProduct.get(sale.product) ?? { units: 0, cents: [] }
    line.units += sale.quantity
    line.cents.push(cents)
    byProduct.set(sale.product, line)
    byDay.set(sale.day, (byDay.get(sale.day) ?? 0) + cents)
    if (++count % SALES_A_TURN === 0) {
      await breathe()
      signal.throwIfAborted()
    }
  }
  const products = [...byProduct].map(([product, { units, cents }]) => productLine(product, units, cents))
  return {
    sales: count,
    revenueCents: sum(products.map((line) => line.revenueCents)),
    bestDay: [...byDay].toSorted(([a, x], [b, y]) => y - x || a - b)[0]?.[0] ?? 0,
    products: products.toSorted((a, b) => b.revenueCents - a.revenueCents),
  }
}

/** The products as CSV, money in units of the currency. */
export function toCsv(report: SalesReport): string {
  const rows = report.products.map(({ product, sales, units, revenueCents, medianCents }) =>
    [quoted(product), sales, units, money(revenueCents), money(medianCents)].join(','),
  )
  return `${['product,sales,units,revenue,median sale', ...rows].join('\r\n')}\r\n`
}

function productLine(product: string, units: number, cents: number[]): ProductLine {
  const sorted = cents.toSorted((a, b) => a - b)
  const medianCents = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0
  return { product, sales: cents.length, units, revenueCents: sum(cents), medianCents }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function money(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`
}

/** As RFC 4180 wants it. */
function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
