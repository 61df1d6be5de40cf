import { parseArgs } from 'node:util'

/** What the program is asked to do. */
export interface Options {
  readonly help: boolean
  /** Least time between two starts of a job; a round for each. */
  readonly intervalsMs: readonly number[]
  readonly spanMs: number
  readonly workers: number
  /** On a virtual clock instead of a server of its own. */
  readonly virtual: boolean
  /** Where the pictures go. */
  readonly out: string | undefined
}

export const USAGE = `npm run example:repeating-jobs -- [--virtual] [--interval 6s,2s] [--span 60s] [--workers 3] [--out DIR]

Five jobs of 1 to 5 s repeat on a few workers for --span, once for each --interval: the least time between two starts of a job.
--virtual: on the test kit's clock, in a moment. --out: writes a picture of each round there, as SVG.`

/**
 * Reads the command line.
 *
 * @throws Error that says what is wrong and what would be right.
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      virtual: { type: 'boolean', default: false },
      interval: { type: 'string', default: '6s,2s' },
      span: { type: 'string', default: '60s' },
      workers: { type: 'string', default: '3' },
      out: { type: 'string' },
    },
  })
  const workers = Number(values.workers)
  if (!Number.isInteger(workers) || workers < 1)
    throw new Error(`--workers must be a whole number of 1 or more, got ${values.workers}`)
  return {
    help: values.help,
    virtual: values.virtual,
    intervalsMs: values.interval.split(',').map((text) => seconds('--interval', text)),
    spanMs: seconds('--span', values.span),
    workers,
    out: values.out,
  }
}

function seconds(name: string, text: string): number {
  const number = /^(\d+(?:\.\d+)?)s$/.exec(text.trim())?.[1]
  if (number === undefined || Number(number) === 0)
    throw new Error(`${name} must be seconds such as 6s or 0.5s, got ${text}`)
  return Number(number) * 1_000
}
