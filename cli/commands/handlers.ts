import type { Command } from 'commander'
import { clientCommand } from '../client-command.js'
import { printable } from '../printable.js'
import { showTable } from '../table.js'
import type { Terminal } from '../terminal.js'

/** `punctual handlers`. */
export function addHandlers(program: Command, terminal: Terminal): void {
  const command = program
    .command('handlers')
    .description('Show what the server can run; with --json also the JSON Schemas.')
  clientCommand(command, terminal, async ({ client, json, signal, sayJson }) => {
    const handlers = await client.handlers({ signal })
    if (json) {
      for (const handler of handlers) sayJson(handler)
      return
    }
    const rows = handlers.map(({ name, lane, maxConcurrent, description }) => [
      printable(name),
      lane,
      maxConcurrent === 0 ? '' : String(maxConcurrent),
      printable(description),
    ])
    terminal.say(showTable(terminal, ['name', 'lane', 'at once', 'description'], rows))
  })
}
