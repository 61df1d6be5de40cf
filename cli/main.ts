#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Command } from 'commander'
import { registerCommands } from './commands/index.js'

const USAGE = 2

const { version } = createRequire(import.meta.url)('punctual/package.json') as { version: string }
const program = new Command('punctual')
  .description('A task scheduler that any service can call over gRPC.')
  .version(version)
  .showHelpAfterError('(add --help for more)')
  .exitOverride((error) => {
    process.exit(error.exitCode === 0 ? 0 : USAGE)
  })

registerCommands(program)
// the server's code takes longer to load than a command of the client takes to run
if (!program.commands.some((command) => command.name() === process.argv[2])) {
  const { addServe } = await import('./serve.js')
  addServe(program)
}

await program.parseAsync()
