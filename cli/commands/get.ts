import type { Command } from 'commander'
import { clientCommand } from '../client-command.js'
import type { Terminal } from '../terminal.js'
import { resultLine } from '../views/result-view.js'
import { taskView } from '../views/task-view.js'

/** `punctual get`. */
export function addGet(program: Command, terminal: Terminal): void {
  const command = program.command('get <id>').description('Show a task and its newest result.')
  clientCommand(command, terminal, async ({ client, json, signal, sayJson }, id) => {
    const found = await client.get(String(id), { signal })
    if (json) {
      sayJson(found)
      return
    }
    terminal.say(taskView(found.task, terminal))
    if (found.result !== undefined) terminal.say(`\n${resultLine(found.result, terminal)}`)
  })
}
