import type { Command } from 'commander'
import { clientCommand, type CommandContext } from '../client-command.js'
import { parseDuration } from '../duration.js'
import { EXIT, exitCodeOf } from '../exit-code.js'
import { printable } from '../printable.js'
import type { Terminal } from '../terminal.js'
import { colouredWord } from '../views/coloured-word.js'

interface CancelFlags {
  readonly grace?: number
}

/** `punctual cancel`. */
export function addCancel(program: Command, terminal: Terminal): void {
  const command = program
    .command('cancel <ids...>')
    .description(
      'Cancel tasks: waiting, they never start; running, they are told to stop, then stopped by force.',
    )
    .option(
      '--grace <duration>',
      'how long a running attempt may go on after it was told (default: 1s)',
      parseDuration,
    )
  clientCommand<CancelFlags>(command, terminal, cancel)
}

async function cancel(
  { client, terminal, options, json, signal, sayJson }: CommandContext<CancelFlags>,
  ids: string | string[] | undefined,
): Promise<number> {
  const graceMs = options.grace === undefined ? {} : { graceMs: options.grace }
  const { tasks } = await client.cancelMany({ ids: [ids ?? []].flat() }, { ...graceMs, signal })
  let code: number = EXIT.ok
  for (const task of tasks) {
    if (task.error !== undefined) {
      terminal.complain(`punctual: ${printable(task.error.message)}`)
      code = Math.max(code, exitCodeOf(task.error))
    } else if (json) {
      sayJson(task)
    } else {
      const note = task.cancelRequested ? ' (told to stop)' : ''
      terminal.say(`${printable(task.id)}  ${colouredWord(terminal.colours, task.state)}${note}`)
    }
  }
  return code
}
