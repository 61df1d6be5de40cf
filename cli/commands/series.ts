import type { Command } from 'commander'
import type { CallOptions, SchedulerClient, TaskInfo } from '../../client/index.js'
import { clientCommand } from '../client-command.js'
import { printable } from '../printable.js'
import { showTime } from '../relative-time.js'
import type { Terminal } from '../terminal.js'
import { stateText } from '../views/task-view.js'

type Change = (client: SchedulerClient, id: string, call: CallOptions) => Promise<TaskInfo>

/** `punctual pause`. */
export function addPause(program: Command, terminal: Terminal): void {
  const description = 'No run of the task starts until it is resumed; slots that pass are skipped.'
  addChange(program.command('pause <id>').description(description), terminal, (client, id, call) =>
    client.pause(id, call),
  )
}

/** `punctual resume`. */
export function addResume(program: Command, terminal: Terminal): void {
  const description = 'End a pause; shows the next due time that will really happen.'
  addChange(program.command('resume <id>').description(description), terminal, (client, id, call) =>
    client.resume(id, call),
  )
}

/** `punctual run-now`. */
export function addRunNow(program: Command, terminal: Terminal): void {
  const description = 'Start one run now, beside the rhythm, never beside another run of the task.'
  addChange(program.command('run-now <id>').description(description), terminal, (client, id, call) =>
    client.runNow(id, call),
  )
}

function addChange(command: Command, terminal: Terminal, change: Change): void {
  clientCommand(command, terminal, async ({ client, json, signal, sayJson }, id) => {
    const task = await change(client, String(id), { signal })
    if (json) {
      sayJson(task)
      return
    }
    const next = task.nextDueTime ? `, next ${showTime(task.nextDueTime, terminal.now())}` : ''
    terminal.say(`${printable(task.id)}  ${stateText(task, terminal.colours)}${next}`)
  })
}
