import { type Command, InvalidArgumentError, Option } from 'commander'
import {
  type ClientOptions,
  DeadlineExceededError,
  InvalidRequestError,
  PunctualError,
  type SchedulerClient,
  type TlsOptions,
  UnavailableError,
} from '../client/index.js'
import { breakNotices } from './break-notices.js'
import { parseDuration } from './duration.js'
import { EXIT, EXIT_CODES_HELP, exitCodeOf } from './exit-code.js'
import { jsonLine } from './json-line.js'
import { printable } from './printable.js'
import type { Terminal } from './terminal.js'

/** Options that every command of the client has. */
interface ConnectionOptions {
  readonly address: string
  readonly timeout: number
  readonly json?: boolean
  readonly tls?: boolean
  readonly tlsCa?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly tlsServerName?: string
}

/** What a command works with. */
export interface CommandContext<Options> {
  readonly client: SchedulerClient
  readonly terminal: Terminal
  readonly options: Options
  /** Somebody has said which server. */
  readonly isServerGiven: boolean
  /** Print JSON, one object a line. */
  readonly json: boolean
  /** Aborted at SIGINT or SIGTERM. */
  readonly signal: AbortSignal
  /** Prints an object as one line of JSON. */
  readonly sayJson: (value: unknown) => void
}

/** Does the work; the exit code, 0 when left out. */
export type CommandWork<Options> = (
  context: CommandContext<Options>,
  ...args: readonly (string | string[] | undefined)[]
) => Promise<number | void>

/** Gives a command its connection options and its work; how errors are told and how the process ends is the same for all. */
export function clientCommand<Options extends object>(
  command: Command,
  terminal: Terminal,
  work: CommandWork<Options>,
): Command {
  return command
    .addOption(
      new Option('--address <host:port>', 'the server').env('PUNCTUAL_ADDRESS').default('127.0.0.1:50051'),
    )
    .option('--json', 'print JSON, one object a line, for scripts')
    .addOption(
      new Option('--timeout <duration>', 'how long a call may take')
        .argParser(parseDuration)
        .default(10_000, '10s'),
    )
    .option('--tls', 'encrypt, trusting the authorities of this machine')
    .option('--tls-ca <file>', 'encrypt, trusting this authority (PEM)')
    .option('--tls-cert <file>', 'certificate of this caller, where the server asks for one (PEM)')
    .option('--tls-key <file>', 'its key (PEM)')
    .option(
      '--tls-server-name <name>',
      'name in the certificate of the server, when it is reached by another',
    )
    .addHelpText('after', EXIT_CODES_HELP)
    .action(async (...given: unknown[]) => {
      // commander hands over the arguments, the options, the command
      const args = given.slice(0, -2) as (string | string[] | undefined)[]
      const options = command.opts<Options & ConnectionOptions>()
      terminal.setExitCode(await runWork({ terminal, options, args, work, command }))
    })
}

interface Work<Options> {
  readonly terminal: Terminal
  readonly options: Options & ConnectionOptions
  readonly args: readonly (string | string[] | undefined)[]
  readonly work: CommandWork<Options>
  readonly command: Command
}

async function runWork<Options>({ terminal, options, args, work, command }: Work<Options>): Promise<number> {
  const interrupt = new AbortController()
  const forget = terminal.onInterrupt(() => interrupt.abort())
  let client: SchedulerClient | undefined
  try {
    client = terminal.connect(clientOptions(options, terminal))
    const json = options.json ?? false
    const sayJson = (value: unknown): void => terminal.say(jsonLine(value))
    const isServerGiven = command.getOptionValueSource('address') !== 'default'
    const context = { client, terminal, options, isServerGiven, json, signal: interrupt.signal, sayJson }
    return (await work(context, ...args)) ?? EXIT.ok
  } catch (error) {
    if (interrupt.signal.aborted) return EXIT.interrupted
    // as commander tells it of an argument that it checked itself
    if (error instanceof InvalidArgumentError) command.error(`error: ${error.message}`)
    return complain(error, options.address, terminal)
  } finally {
    forget()
    await client?.close()
  }
}

function complain(error: unknown, address: string, terminal: Terminal): number {
  const say = (line: string): void => terminal.complain(`punctual: ${printable(line)}`)
  if (error instanceof RangeError) {
    say(error.message)
    return EXIT.usage
  }
  if (!(error instanceof PunctualError)) {
    // a fault of this program: whoever mends it needs the place
    terminal.complain(error instanceof Error ? (error.stack ?? error.message) : String(error))
    return EXIT.failed
  }
  if (error instanceof InvalidRequestError && error.violations.length > 0) {
    for (const { field, description } of error.violations) say(`${field}: ${description}`)
  } else if (error instanceof UnavailableError && error.reason === '') {
    say(`cannot reach a server at ${address}: ${error.message}`)
    say('is one running there? Start one with: punctual serve')
  } else if (error instanceof DeadlineExceededError) {
    say(`no answer from ${address}: ${error.message}`)
  } else {
    say(error.message)
  }
  return exitCodeOf(error)
}

function clientOptions(options: ConnectionOptions, terminal: Terminal): ClientOptions {
  const { address, timeout } = options
  const tls = tlsOptions(options, terminal)
  return {
    address,
    deadlineMs: timeout,
    // a person would rather hear at once that nobody is there
    retry: false,
    onBreak: breakNotices(terminal),
    ...(tls !== undefined && { tls }),
  }
}

function tlsOptions(options: ConnectionOptions, terminal: Terminal): boolean | TlsOptions | undefined {
  const { tls, tlsCa, tlsCert, tlsKey, tlsServerName } = options
  if (tlsCa === undefined && tlsCert === undefined && tlsKey === undefined && tlsServerName === undefined) {
    return tls
  }
  const read = (path: string, flag: string): Buffer => {
    try {
      return terminal.readFile(path)
    } catch (error) {
      throw new RangeError(`${flag}: ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return {
    ...(tlsCa !== undefined && { ca: read(tlsCa, '--tls-ca') }),
    ...(tlsCert !== undefined && { cert: read(tlsCert, '--tls-cert') }),
    ...(tlsKey !== undefined && { key: read(tlsKey, '--tls-key') }),
    ...(tlsServerName !== undefined && { serverName: tlsServerName }),
  }
}
