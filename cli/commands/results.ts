import { type Command, InvalidArgumentError } from 'commander'
import type { ResultFilter, ResultOptions, ResultOutcome } from '../../client/index.js'
import { clientCommand, type CommandContext } from '../client-command.js'
import { EXIT } from '../exit-code.js'
import { label, oneOf, outcomes, several } from '../flags.js'
import { parsePast } from '../instant.js'
import type { Terminal } from '../terminal.js'
import { resultLine } from '../views/result-view.js'

interface ResultFlags {
  readonly follow?: boolean
  readonly task?: readonly string[]
  readonly handler?: readonly string[]
  readonly label?: Readonly<Record<string, string>>
  readonly outcome?: readonly ResultOutcome[]
  readonly since?: string
  readonly from?: 'earliest' | 'latest'
  readonly after?: string
  readonly attempts?: boolean
  readonly consumer?: string
  readonly lossy?: boolean
}

const EXAMPLES = `
Without --follow: what is kept, then the end. With --follow: what comes from now on, until Ctrl-C.

Examples:
  punctual results --since 1h --outcome failed,timed-out
  punctual results --follow --handler webhook
  punctual results --follow --consumer audit --json >> audit.jsonl`

/** `punctual results`. */
export function addResults(program: Command, terminal: Terminal): void {
  const command = program
    .command('results')
    .description('Show results, oldest first; resumes by itself when the connection breaks.')
    .option('--follow', 'go on with what comes')
    .option('--task <ids>', 'only of these tasks; several with commas', several)
    .option('--handler <names>', 'only of these handlers; several with commas', several)
    .option('--label <key=value>', 'only with this label; may be repeated', label)
    .option(
      '--outcome <outcomes>',
      'succeeded, failed, timed-out, cancelled, expired, skipped; several with commas',
      outcomes,
    )
    .option('--since <time>', 'from then on: a time, or how long ago (1h)')
    .option(
      '--from <position>',
      'earliest (default without --follow) or latest (default with it)',
      oneOf(['earliest', 'latest'], 'position'),
    )
    .option('--after <cursor>', 'after this cursor of an earlier stream')
    .option('--attempts', 'also attempts that did not end their run')
    .option(
      '--consumer <name>',
      'the server keeps the position of this name: each result is shown once over all calls',
    )
    .option('--lossy', 'with --consumer, at its first use: retention need not wait for it')
    .addHelpText('after', EXAMPLES)
  clientCommand<ResultFlags>(command, terminal, results)
}

async function results({
  client,
  terminal,
  options,
  json,
  signal,
  sayJson,
}: CommandContext<ResultFlags>): Promise<number> {
  const stream = client.results({ ...resultOptions(options, terminal.now()), signal })
  try {
    for await (const result of stream) {
      if (json) sayJson(result)
      else terminal.say(resultLine(result, terminal))
    }
  } catch (error) {
    // how following is meant to end
    if (options.follow === true && signal.aborted) return EXIT.ok
    throw error
  }
  return EXIT.ok
}

function resultOptions(flags: ResultFlags, now: number): ResultOptions {
  const starts = ['since', 'from', 'after'] as const
  const said = starts.filter((name) => flags[name] !== undefined)
  if (said.length > 1) {
    throw new InvalidArgumentError(`${said.map((name) => `--${name}`).join(' and ')} exclude each other.`)
  }
  const { follow = false, since, after, consumer } = flags
  const fallback = follow || consumer !== undefined ? {} : { from: 'earliest' as const }
  return {
    untilCaughtUp: !follow,
    filter: filterOf(flags),
    ...(said.length === 0 && fallback),
    ...(since !== undefined && { since: parsePast(since, now) }),
    ...(flags.from !== undefined && { from: flags.from }),
    ...(after !== undefined && { after }),
    ...(flags.attempts === true && { includeAttempts: true }),
    ...(consumer !== undefined && { consumer }),
    ...(flags.lossy === true && { lossy: true }),
  }
}

function filterOf({ task, handler, label: labels, outcome }: ResultFlags): ResultFilter {
  return {
    ...(task && { taskIds: task }),
    ...(handler && { handlers: handler }),
    ...(labels && { labels }),
    ...(outcome && { outcomes: outcome }),
  }
}
