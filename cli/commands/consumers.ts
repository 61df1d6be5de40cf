import type { Command } from 'commander'
import { clientCommand } from '../client-command.js'
import { printable } from '../printable.js'
import type { Terminal } from '../terminal.js'
import { consumersView } from '../views/consumers-view.js'

const EXAMPLES = `
A consumer is made by its first stream, such as: punctual results --follow --consumer audit`

/** `punctual consumers`. */
export function addConsumers(program: Command, terminal: Terminal): void {
  const command = program
    .command('consumers')
    .description('Show the durable consumers of the results: how far behind each is, and what it reads.')
    .addHelpText('after', EXAMPLES)
  clientCommand(command, terminal, async ({ client, json, signal, sayJson }) => {
    const consumers = await client.consumers({ signal })
    if (json) for (const consumer of consumers) sayJson(consumer)
    else if (consumers.length === 0) terminal.complain('no durable consumers')
    else terminal.say(consumersView(consumers, terminal))
  })
}

/** `punctual delete-consumer`. */
export function addDeleteConsumer(program: Command, terminal: Terminal): void {
  const command = program
    .command('delete-consumer <name>')
    .description('Forget a durable consumer and its position; a stream that it has open ends.')
  clientCommand(command, terminal, async ({ client, json, signal, sayJson }, name) => {
    await client.deleteConsumer(String(name), { signal })
    if (json) sayJson({ name, deleted: true })
    else terminal.say(`${printable(String(name))} is forgotten`)
  })
}
