import type { Command } from 'commander'
import type { ListOptions, TaskInfo, TaskState } from '../../client/index.js'
import { clientCommand, type CommandContext } from '../client-command.js'
import { label, several, states, whole } from '../flags.js'
import { parseInstant } from '../instant.js'
import { printable } from '../printable.js'
import { showRelative } from '../relative-time.js'
import { showTable } from '../table.js'
import type { Terminal } from '../terminal.js'
import { stateText } from '../views/task-view.js'

interface ListFlags {
  readonly state?: readonly TaskState[]
  readonly handler?: readonly string[]
  readonly label?: Readonly<Record<string, string>>
  readonly dueFrom?: Date
  readonly dueBefore?: Date
  readonly input?: boolean
  readonly limit: number
}

/** The server's largest page. */
const MAX_PAGE = 1_000

/** `punctual list`. */
export function addList(program: Command, terminal: Terminal): void {
  const command = program
    .command('list')
    .description('List tasks, ordered by due time.')
    .option(
      '--state <states>',
      'scheduled, running, succeeded, failed, cancelled, expired; several with commas',
      states,
    )
    .option('--handler <names>', 'only of these handlers; several with commas', several)
    .option('--label <key=value>', 'only with this label; may be repeated', label)
    .option('--due-from <time>', 'only due then or later', parseInstant)
    .option('--due-before <time>', 'only due before', parseInstant)
    .option('--input', 'also show the input')
    .option('--limit <n>', 'at most this many; 0 = all', whole(0, Number.MAX_SAFE_INTEGER), 1_000)
  clientCommand<ListFlags>(command, terminal, list)
}

async function list({
  client,
  terminal,
  options,
  json,
  signal,
  sayJson,
}: CommandContext<ListFlags>): Promise<void> {
  const limit = options.limit === 0 ? Infinity : options.limit
  const tasks: TaskInfo[] = []
  let shown = 0
  let more = false
  for await (const task of client.list({ ...filterOf(options), signal })) {
    more = shown === limit
    if (more) break
    shown++
    // a script gets each at once, a person the whole as one table
    if (json) sayJson(task)
    else tasks.push(task)
  }
  if (!json && tasks.length > 0) terminal.say(tasksTable(tasks, options.input === true, terminal))
  if (!json && tasks.length === 0) terminal.complain('no task matches')
  if (more) terminal.complain(`more follow: this is the first ${shown}; --limit 0 shows all`)
}

function filterOf({
  state,
  handler,
  label: labels,
  dueFrom,
  dueBefore,
  input,
  limit,
}: ListFlags): ListOptions {
  return {
    // one more than is shown, to know whether more follow
    pageSize: limit === 0 ? MAX_PAGE : Math.min(MAX_PAGE, limit + 1),
    withInput: input ?? false,
    ...(state && { states: state }),
    ...(handler && { handlers: handler }),
    ...(labels && { labels }),
    ...(dueFrom && { dueFrom }),
    ...(dueBefore && { dueBefore }),
  }
}

function tasksTable(tasks: readonly TaskInfo[], withInput: boolean, terminal: Terminal): string {
  const now = terminal.now()
  const rows = tasks.map((task) => [
    printable(task.id),
    printable(task.handler),
    stateText(task, terminal.colours),
    task.dueTime === undefined ? '' : `${task.dueTime.toISOString()}  ${showRelative(task.dueTime, now)}`,
    `${task.run}/${task.attempts}`,
    ...(withInput ? [task.input === undefined ? '' : printable(JSON.stringify(task.input))] : []),
  ])
  const headings = ['id', 'handler', 'state', 'due', 'run/attempts', ...(withInput ? ['input'] : [])]
  return showTable(terminal, headings, rows)
}
