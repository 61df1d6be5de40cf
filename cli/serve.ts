import { type Command, Option } from 'commander'
import { serve, settingsHelp } from '../server/main.js'

/** `punctual serve`: one option for each setting of the server. */
export function addServe(program: Command): void {
  const command = program
    .command('serve')
    .description('Serve tasks over gRPC until a signal.')
    .addHelpText('after', EXIT_CODES)
    .action(async (flags: Record<string, unknown>) => {
      process.exitCode = await serve(flags)
      // worker threads or a stuck socket must not keep a server that has stopped
      process.exit()
    })
  for (const { flags, description, env, initial } of settingsHelp()) {
    const fallback = initial === undefined ? '' : `; default ${initial}`
    command.addOption(new Option(flags, `${description} (${env}${fallback})`))
  }
}

const EXIT_CODES = `
Every setting also comes from the environment or, by its name with underscores, from the TOML file of --config.
A flag wins over the environment, that over the file.

Exit codes:
  0  stopped cleanly: whatever ran has ended and is stored
  1  refused to start; the line on stderr says why
  2  a setting cannot be used
  3  cut short: by the drain limit, a second signal, or a store that failed
`
