import type { Spread } from './spread.js'

/** The best that could be hoped for, measured in the same run, right beside the figure. */
export interface Ceiling {
  readonly name: string
  readonly value: Spread
  /** Figure divided by ceiling, from runs side by side. */
  readonly ratio: Spread
}

/** One line of the report. */
export interface Figure {
  readonly scenario: string
  readonly name: string
  readonly unit: string
  readonly value: Spread
  readonly ceiling?: Ceiling
  /** Microseconds of CPU for each task. */
  readonly serverUs?: Spread
  readonly serverMainUs?: Spread
  readonly clientUs?: Spread
  /** Beside the figure: latencies and the like. */
  readonly also?: Readonly<Record<string, number>>
  /** Load average when it was measured. */
  readonly load: number
}

/** A number as people read it: three digits that count. */
export function shown(value: number): string {
  if (Number.isNaN(value)) return '–'
  const size = Math.abs(value)
  if (size >= 1_000_000) return `${(value / 1_000_000).toFixed(2)}M`
  if (size >= 10_000) return `${(value / 1_000).toFixed(1)}k`
  if (size >= 100) return value.toFixed(0)
  return value.toFixed(size >= 10 ? 1 : 2)
}

/** Median and spread: `48.2k (44.0k–51.3k)`. */
export function shownSpread({ median, least, most, runs }: Spread): string {
  return runs === 1 ? shown(median) : `${shown(median)} (${shown(least)}–${shown(most)})`
}
