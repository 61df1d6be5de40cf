import { setFlagsFromString } from 'node:v8'
import { type RunningServer, startServer } from './compose.js'
import { type Config, ConfigError, readConfig } from './config/read-config.js'

export { settingsHelp } from './config/help.js'

/** How `punctual serve` ends. */
const EXIT = {
  /** Everything that ran has ended and is stored. */
  clean: 0,
  /** It did not start; one line on stderr says why. */
  refused: 1,
  /** A setting or flag cannot be used. */
  usage: 2,
  /** Attempts were cut off by the drain limit or a second signal, or something could not be stored. */
  cutShort: 3,
} as const

/**
 * By how much V8 lets what is alive grow until it collects again. Left to itself it may become several times as much, and what a flood of batches has left behind stays
 * with the process: docs/decisions/memory.md has the figures.
 */
const HEAP_GROWTH_PERCENT = 20

/** What `serve` needs of its process: a test has its own. */
export interface ServeProcess {
  /** Calls back at SIGTERM and SIGINT. */
  onSignal(listener: (signal: string) => void): void
  /** Ends at once. */
  exit(code: number): void
  /** A line for people, on stdout. */
  say(line: string): void
  /** A line that says what is wrong, on stderr. */
  complain(line: string): void
}

const thisProcess: ServeProcess = {
  onSignal(listener) {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => listener(signal))
  },
  exit: (code) => process.exit(code),
  say: (line) => process.stdout.write(`${line}\n`),
  complain: (line) => process.stderr.write(`${line}\n`),
}

/**
 * Serves until a signal: the first drains and closes, a second stops at once.
 *
 * @param flags - As they were typed, by the setting's name.
 * @returns the exit code, 0 clean, 1 refused to start, 2 usage, 3 cut short.
 * @example process.exitCode = await serve({ data: ':memory:', listen: '127.0.0.1:0' })
 */
export async function serve(
  flags: Readonly<Record<string, unknown>>,
  host: ServeProcess = thisProcess,
): Promise<number> {
  const config = tryReadConfig(flags, host)
  if (!config) return EXIT.usage
  const stopping = new Promise<string>((resolve) => {
    let signals = 0
    host.onSignal((signal) => {
      signals += 1
      if (signals === 1) resolve(signal)
      else host.exit(EXIT.cutShort)
    })
  })
  setFlagsFromString(`--heap-growing-percent=${HEAP_GROWTH_PERCENT}`)
  let server: RunningServer
  try {
    server = await startServer(config)
  } catch (error) {
    host.complain(`punctual: ${error instanceof Error ? error.message : String(error)}`)
    return EXIT.refused
  }
  welcome(config, server, host)
  void server.warm()
  const signal = await stopping
  host.say(`punctual: ${signal}: draining; once more stops at once`)
  return (await server.stop(config.settings.drainLimit)) ? EXIT.clean : EXIT.cutShort
}

function tryReadConfig(flags: Readonly<Record<string, unknown>>, host: ServeProcess): Config | undefined {
  try {
    return readConfig({ flags })
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    for (const problem of error.problems) host.complain(`punctual: ${problem}`)
    host.complain('punctual: see punctual serve --help')
    return undefined
  }
}

function welcome({ settings, warnings }: Config, server: RunningServer, host: ServeProcess): void {
  for (const warning of warnings) host.complain(`punctual: ${warning}`)
  const where = server.host.includes(':') ? `[${server.host}]` : server.host
  const how =
    settings.tlsCert === undefined
      ? 'without TLS'
      : settings.tlsCa === undefined
        ? 'with TLS'
        : 'with mutual TLS'
  host.say(`punctual: serving on ${where}:${server.port} ${how}; data: ${settings.data}`)
  if (settings.handlers === undefined) {
    host.say('punctual: no --handlers given: serving the demo handlers fibonacci, echo and sleep')
  }
  if (settings.hold) host.say('punctual: --hold: tasks are taken, none is started')
}
