#!/usr/bin/env node
import { createRequire } from 'node:module'
import { Command } from 'commander'

const USAGE = 2

const { version } = createRequire(import.meta.url)('punctual/package.json') as { version: string }
const program = new Command('punctual')
  .description('A task scheduler that any service can call over gRPC.')
  .version(version)
  .showHelpAfterError('(add --help for more)')
  .exitOverride((error) => {
    process.exit(error.exitCode === 0 ? 0 : USAGE)
  })

// only what is asked for is loaded: the server's code takes longer than a command of the client takes to run, and a start needs none of theirs
const [asked] = process.argv.slice(2)
if (asked !== 'serve') {
  const { registerCommands } = await import('./commands/index.js')
  registerCommands(program)
}
if (!program.commands.some((command) => command.name() === asked)) {
  const { addServe } = await import('./serve.js')
  addServe(program)
}

await program.parseAsync()
