import { parseArgs } from 'node:util'

/** What the demo is asked to do. */
export interface DemoOptions {
  readonly help: boolean
  /** The due times lie at random in this time. */
  readonly spanMs: number
  readonly tasks: number
}

export const USAGE = `npm run demo -- [--span 20s] [--tasks 10]

Schedules fibonacci tasks at random moments of the next --span seconds and shows what becomes of them.
From 100 tasks on, the summary has p95 and p99.`

const MAX_TASKS = 10_000

/**
 * Reads the command line.
 *
 * @throws Error that says what is wrong and what would be right.
 */
export function demoOptions(args: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', short: 'h', default: false },
      span: { type: 'string', default: '20s' },
      tasks: { type: 'string', default: '10' },
    },
  })
  const seconds = /^(\d+(?:\.\d+)?)s$/.exec(values.span)?.[1]
  if (seconds === undefined) throw new Error(`--span must be seconds such as 5s or 0.5s, got ${values.span}`)
  const tasks = Number(values.tasks)
  if (!Number.isInteger(tasks) || tasks < 1 || tasks > MAX_TASKS)
    throw new Error(`--tasks must be a whole number from 1 to ${MAX_TASKS}, got ${values.tasks}`)
  return { help: values.help, spanMs: Number(seconds) * 1_000, tasks }
}
