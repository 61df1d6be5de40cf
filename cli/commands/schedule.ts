import { type Command, InvalidArgumentError } from 'commander'
import {
  type ScheduleOptions,
  type SchedulerClient,
  TaskFailedError,
  type TaskResult,
} from '../../client/index.js'
import { clientCommand, type CommandContext } from '../client-command.js'
import { parseDuration } from '../duration.js'
import { EXIT } from '../exit-code.js'
import { label, oneOf, whole } from '../flags.js'
import { parseInstant } from '../instant.js'
import { parseJsonArgument } from '../json-argument.js'
import { printable } from '../printable.js'
import { type RecurrenceFlags, recurrenceFlags, recurrenceOf } from '../recurrence-flags.js'
import { showTime } from '../relative-time.js'
import type { Terminal } from '../terminal.js'
import { previewLine } from '../views/preview-view.js'
import { resultLine } from '../views/result-view.js'

interface ScheduleFlags extends RecurrenceFlags {
  readonly id?: string
  readonly in?: number
  readonly at?: Date
  readonly label?: Readonly<Record<string, string>>
  readonly priority?: number
  readonly key?: string
  readonly attempts?: number
  readonly backoff?: number
  readonly attemptTimeout?: number
  readonly startWithin?: number
  readonly atMostOnce?: boolean
  readonly onConflict?: 'sameSpec' | 'keep' | 'replace'
  readonly wait?: boolean
}

const EXAMPLES = `
Examples:
  punctual schedule fibonacci '{"n": 30}' --in 5s --wait
  punctual schedule report --cron '0 2 * * *' --zone Europe/Berlin --id nightly
  echo '{"url": "https://example.org"}' | punctual schedule webhook - --attempts 5`

/** How many due times of a recurrence are shown before it is stored. */
const SHOWN_DUE_TIMES = 3

/** `punctual schedule`. */
export function addSchedule(program: Command, terminal: Terminal): void {
  const command = program
    .command('schedule <handler> [input]')
    .description('Store a task. The input is JSON; - reads it from stdin, @file from a file.')
    .option('--id <id>', 'name of the task: a second call with the same id and content changes nothing')
    .option('--in <duration>', 'due this long from now: 250ms, 5s, 2h30m, PT5M', parseDuration)
    .option(
      '--at <time>',
      'due then: 2030-01-01T09:00:00Z, without the Z in the zone of this machine',
      parseInstant,
    )
    .option('--cron <expression>', 'recurring, by a cron rule of 5 or 6 fields')
  recurrenceFlags(command)
    .option('--label <key=value>', 'mark it; may be repeated', label)
    .option('--priority <n>', '-100 to 100: among due tasks, higher first', whole(-100, 100))
    .option('--key <key>', 'tasks that share it run one at a time, in due order')
    .option('--attempts <n>', 'how many attempts a run may take, the first included', whole(1, 1_000))
    .option('--backoff <duration>', 'wait before the second attempt; doubled each time', parseDuration)
    .option('--attempt-timeout <duration>', 'how long an attempt may take; 0s = no limit', parseDuration)
    .option('--start-within <duration>', 'expire if not started this long after it was due', parseDuration)
    .option('--at-most-once', 'never start an attempt twice, even if the server dies')
    .option(
      '--on-conflict <what>',
      'when the id is known: same-spec (default), keep, replace',
      oneOf(['sameSpec', 'keep', 'replace'], 'choice'),
    )
    .option('--wait', 'wait for the result')
    .addHelpText('after', EXAMPLES)
  clientCommand<ScheduleFlags>(command, terminal, schedule)
}

async function schedule(
  context: CommandContext<ScheduleFlags>,
  handler: string | string[] | undefined,
  inputText: string | string[] | undefined,
): Promise<number | undefined> {
  const { client, terminal, options, json, signal } = context
  const input = await readInput(String(inputText ?? ''), terminal)
  const task = { ...taskOptions(options), signal }
  if (task.recurrence !== undefined && !json) await showDueTimes(context, task)
  const stored = await client.schedule(String(handler), input, task)
  if (options.wait === true) return waitFor(context, stored)
  if (json) {
    context.sayJson(stored.toJSON())
    return undefined
  }
  const due = stored.dueTime === undefined ? '' : `, due ${showTime(stored.dueTime, terminal.now())}`
  const what = stored.created
    ? 'stored'
    : options.onConflict === 'replace'
      ? 'replaced'
      : 'was stored before:'
  terminal.say(`${what} ${terminal.colours.bold(printable(stored.id))}${due}`)
  return undefined
}

async function waitFor(
  { terminal, json, signal, sayJson }: CommandContext<ScheduleFlags>,
  task: Awaited<ReturnType<SchedulerClient['schedule']>>,
): Promise<number> {
  if (!json) terminal.complain(`waiting for ${printable(task.id)}`)
  let result: TaskResult
  try {
    result = await task.result({ signal })
  } catch (error) {
    if (!(error instanceof TaskFailedError)) throw error
    result = error.result
  }
  if (json) sayJson(result)
  else terminal.say(resultLine(result, terminal))
  return result.outcome === 'succeeded' ? EXIT.ok : EXIT.taskFailed
}

async function showDueTimes(
  { client, terminal, signal }: CommandContext<ScheduleFlags>,
  task: ScheduleOptions,
) {
  const { recurrence, delayMs, id } = task
  // the other rules depend on when runs end
  if (recurrence === undefined || !('cron' in recurrence || 'everyMs' in recurrence)) return
  const from = delayMs === undefined ? task.dueTime : new Date(terminal.now() + delayMs)
  const dueTimes = await client.preview(recurrence, {
    count: SHOWN_DUE_TIMES,
    signal,
    ...(from !== undefined && { from }),
    ...(id !== undefined && { taskId: id }),
  })
  for (const due of dueTimes) terminal.say(previewLine(due, terminal.colours))
}

function taskOptions(flags: ScheduleFlags): ScheduleOptions {
  if (flags.in !== undefined && flags.at !== undefined) {
    throw new InvalidArgumentError('--in and --at exclude each other.')
  }
  const recurrence = recurrenceOf(flags)
  const backoff = flags.backoff === undefined ? {} : { initialBackoffMs: flags.backoff }
  if (flags.backoff !== undefined && flags.attempts === undefined) {
    throw new InvalidArgumentError('--backoff needs --attempts: how many there may be.')
  }
  return {
    ...(flags.id !== undefined && { id: flags.id }),
    ...(flags.in !== undefined && { delayMs: flags.in }),
    ...(flags.at !== undefined && { dueTime: flags.at }),
    ...(recurrence !== undefined && { recurrence }),
    ...(flags.label !== undefined && { labels: flags.label }),
    ...(flags.priority !== undefined && { priority: flags.priority }),
    ...(flags.key !== undefined && { concurrencyKey: flags.key }),
    ...(flags.attempts !== undefined && { retry: { maxAttempts: flags.attempts, ...backoff } }),
    ...(flags.attemptTimeout !== undefined && { attemptTimeoutMs: flags.attemptTimeout }),
    ...(flags.startWithin !== undefined && { startWithinMs: flags.startWithin }),
    ...(flags.atMostOnce === true && { atMostOnce: true }),
    ...(flags.onConflict !== undefined && { onConflict: flags.onConflict }),
  }
}

async function readInput(text: string, terminal: Terminal): Promise<unknown> {
  if (text === '') return undefined
  if (text === '-') return parseJsonArgument(await terminal.readStdin())
  if (!text.startsWith('@')) return parseJsonArgument(text)
  try {
    return parseJsonArgument(terminal.readFile(text.slice(1)).toString())
  } catch (error) {
    if (error instanceof InvalidArgumentError) throw error
    throw new InvalidArgumentError(
      `cannot read the input: ${error instanceof Error ? error.message : String(error)}.`,
    )
  }
}
