import type { Ceiling, Figure } from './figure.js'
import { loadAverage } from './machine.js'
import { ratioOf, spreadOf } from './spread.js'

/** What jobs tell; see `bench/callers/measured.ts`. */
interface Told {
  readonly perSecond: number
  readonly serverUs: number
  readonly serverMainUs: number
  readonly clientUs: number
  readonly p50Ms: number
  readonly p99Ms: number
}

interface Given<T> {
  readonly scenario: string
  readonly name: string
  readonly of: readonly T[]
  /** Runs of the ceiling, made one beside the other with those of the figure. */
  readonly ceiling?: { readonly name: string; readonly of: readonly T[] }
  readonly also?: Readonly<Record<string, number>>
}

/** Tasks a second, with what one of them cost. */
export function rateFigure(given: Given<Told>, unit = 'tasks/s'): Figure {
  const { of } = given
  return {
    ...figure(
      {
        ...given,
        of: of.map(({ perSecond }) => perSecond),
        ceiling: over(given, ({ perSecond }) => perSecond),
      },
      unit,
    ),
    serverUs: spreadOf(of.map(({ serverUs }) => serverUs)),
    serverMainUs: spreadOf(of.map(({ serverMainUs }) => serverMainUs)),
    clientUs: spreadOf(of.map(({ clientUs }) => clientUs)),
  }
}

/** Microseconds of the server's CPU for each task. */
export function serverCostFigure(given: Given<Told>): Figure {
  const values = given.of.map(({ serverUs }) => serverUs)
  return figure(
    { ...given, of: values, ceiling: over(given, ({ serverUs }) => serverUs) },
    'µs of server CPU',
  )
}

/** Milliseconds that a call takes: the median of each run. */
export function latencyFigure(given: Given<Pick<Told, 'p50Ms' | 'p99Ms'>>): Figure {
  const values = given.of.map(({ p50Ms }) => p50Ms)
  const p99 = spreadOf(given.of.map(({ p99Ms }) => p99Ms)).median
  return figure(
    {
      ...given,
      of: values,
      ceiling: over(given, ({ p50Ms }) => p50Ms),
      also: { 'p99 ms': p99, ...given.also },
    },
    'ms (p50)',
  )
}

/** Any number, with the number that it is compared with. */
export function figure(
  given: Omit<Given<number>, 'ceiling'> & { readonly ceiling?: Given<number>['ceiling'] | undefined },
  unit: string,
): Figure {
  const { scenario, name, of, ceiling, also } = given
  return {
    scenario,
    name,
    unit,
    value: spreadOf(of),
    ...(ceiling && { ceiling: ceilingOf(ceiling.name, of, ceiling.of) }),
    ...(also && { also }),
    load: loadAverage(),
  }
}

function ceilingOf(name: string, values: readonly number[], ceilings: readonly number[]): Ceiling {
  return { name, value: spreadOf(ceilings), ratio: ratioOf(values, ceilings) }
}

function over<T>({ ceiling }: Given<T>, value: (told: T) => number): Given<number>['ceiling'] | undefined {
  return ceiling && { name: ceiling.name, of: ceiling.of.map(value) }
}
