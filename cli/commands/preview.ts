import { type Command, InvalidArgumentError } from 'commander'
import { type PreviewedDueTime, type Recurrence, UnavailableError } from '../../client/index.js'
import { clientCommand, type CommandContext } from '../client-command.js'
import { whole } from '../flags.js'
import { parseInstant } from '../instant.js'
import { previewHere } from '../preview-here.js'
import { type RecurrenceFlags, recurrenceFlags, recurrenceOf } from '../recurrence-flags.js'
import type { Terminal } from '../terminal.js'
import { previewLine } from '../views/preview-view.js'

interface PreviewFlags extends Omit<RecurrenceFlags, 'cron'> {
  readonly from?: Date
  readonly count: number
  readonly id?: string
}

/** `punctual preview`. */
export function addPreview(program: Command, terminal: Terminal): void {
  const command = program
    .command('preview [cron]')
    .description(
      'Show the next due times of a recurrence, with what clock changes do to them. Stores nothing, and needs no server.',
    )
    .option('--from <time>', 'due times after this (default: now)', parseInstant)
    .option('--count <n>', 'how many', whole(1, 1_000), 10)
    .option('--id <id>', 'the id that the task will have: jitter depends on it')
  recurrenceFlags(command).addHelpText(
    'after',
    "\nExample:\n  punctual preview '0 2 * * *' --zone America/New_York --from 2027-03-13T12:00:00Z --count 5",
  )
  clientCommand<PreviewFlags>(command, terminal, preview)
}

async function preview(
  context: CommandContext<PreviewFlags>,
  cron: string | string[] | undefined,
): Promise<void> {
  const { terminal, options, json, sayJson } = context
  const recurrence = recurrenceOf({ ...options, ...(cron !== undefined && { cron: String(cron) }) })
  if (recurrence === undefined) {
    throw new InvalidArgumentError("say a rule: a cron expression such as '0 2 * * *', or --every.")
  }
  const dueTimes = await dueTimesOf(recurrence, context)
  for (const due of dueTimes) {
    if (json) sayJson(due)
    else terminal.say(previewLine(due, terminal.colours))
  }
  if (dueTimes.length === 0) terminal.complain('never due')
}

/** As the server says; as it would say, where nobody has named one and none is running. */
async function dueTimesOf(
  recurrence: Recurrence,
  { client, terminal, options, isServerGiven, signal }: CommandContext<PreviewFlags>,
): Promise<readonly PreviewedDueTime[]> {
  const { from, count, id } = options
  try {
    return await client.preview(recurrence, {
      count,
      signal,
      ...(from && { from }),
      ...(id !== undefined && { taskId: id }),
    })
  } catch (error) {
    if (isServerGiven || !(error instanceof UnavailableError) || error.reason !== '') throw error
    return previewHere(recurrence, {
      count,
      from: from ?? new Date(terminal.now()),
      ...(id !== undefined && { id }),
    })
  }
}
