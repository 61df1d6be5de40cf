import type { Command } from 'commander'
import { EXIT } from '../exit-code.js'
import { printable } from '../printable.js'
import { storeCommand } from '../store-command.js'
import { showTable } from '../table.js'
import type { Terminal } from '../terminal.js'

const EXAMPLES = `
Reads all of it and changes nothing; a server may go on meanwhile. Exit code 1 when something is wrong.

Examples:
  punctual check /var/lib/punctual
  punctual check /backups/monday.db --json`

/** `punctual check`. */
export function addCheck(program: Command, terminal: Terminal): void {
  const command = program
    .command('check <path>')
    .description('Check a data folder or a backup: the file, and all that must hold in it.')
    .addHelpText('after', EXAMPLES)
  storeCommand(command, terminal, async ({ json, sayJson, progress }, path) => {
    const { checkStore } = await import('../../server/compose/store-files.js')
    const { findings } = checkStore(path, ({ what, done }) => progress(`checking ${what}`, done))
    const broken = findings.filter((finding) => finding.broken > 0)
    if (json) for (const { ...finding } of findings) sayJson(finding)
    else {
      const rows = findings.map(({ invariant, checked, broken: n }) => [
        invariant,
        checked.toLocaleString('en-US'),
        n === 0
          ? terminal.colours.green('holds')
          : terminal.colours.red(`${n.toLocaleString('en-US')} broken`),
      ])
      terminal.say(showTable(terminal, ['what must hold', 'checked', ''], rows))
    }
    for (const { invariant, examples } of json ? [] : broken)
      for (const example of examples)
        terminal.complain(`punctual: not so: ${invariant}: ${printable(example)}`)
    return broken.length === 0 ? EXIT.ok : EXIT.failed
  })
}
