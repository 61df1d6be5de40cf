import { defineHandler } from 'punctual/handlers'
import * as v from 'valibot'
import { salesOf } from './sales.js'
import { buildSalesReport, toCsv } from './sales-report.js'

/**
 * Builds the sales report of a month. Lane `thread`: it computes, so it gets a thread of its own, and one that does not stop when asked is
 * stopped by force.
 *
 * @example { "handler": "report.build", "input": { "month": "2026-11", "sales": 200000, "format": "csv" } }
 */
export const reportBuild = defineHandler({
  name: 'report.build',
  description:
    'The sales of a month by product: {"format": "summary"} as figures, "csv" as text for a spreadsheet.',
  lane: 'thread',
  input: v.object({
    month: v.pipe(v.string(), v.regex(/^\d{4}-(0[1-9]|1[0-2])$/, 'a month such as 2026-11')),
    sales: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(5_000_000)), 100_000),
    format: v.optional(v.picklist(['summary', 'csv']), 'summary'),
  }),
  async run({ month, sales, format }, context) {
    const report = await buildSalesReport(salesOf(month, sales), context.signal)
    context.logger.info('report built', { month, sales })
    return format === 'csv' ? { month, csv: toCsv(report) } : { month, ...report }
  },
})
