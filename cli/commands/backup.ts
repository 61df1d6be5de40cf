import type { Command } from 'commander'
import { EXIT } from '../exit-code.js'
import { printable } from '../printable.js'
import { storeCommand } from '../store-command.js'
import type { Terminal } from '../terminal.js'

const EXAMPLES = `
The server may go on meanwhile; the copy is whole as of the moment at which this began. To restore it, put it as punctual.db into an empty
data folder and start a server there. Its log has a new name then: cursors of the old one are refused.

Examples:
  punctual backup --data /var/lib/punctual /backups/monday.db
  punctual check /backups/monday.db`

/** `punctual backup`. */
export function addBackup(program: Command, terminal: Terminal): void {
  const command = program
    .command('backup <file>')
    .description('Copy a store to a file that does not exist, also while a server uses it.')
    .requiredOption('--data <folder>', 'data folder of the server')
    .addHelpText('after', EXAMPLES)
  storeCommand(command, terminal, async ({ json, signal, sayJson, progress }, file) => {
    const { data } = command.opts<{ data: string }>()
    // the server's code takes longer to load than most commands take to run
    const { backupStore } = await import('../../server/compose/store-files.js')
    const bytes = await backupStore({
      data,
      to: file,
      signal,
      onProgress: (done) => progress('copying', done),
    })
    if (json) sayJson({ file, bytes })
    else terminal.say(`${printable(file)}: ${bytes.toLocaleString('en-US')} bytes`)
    return EXIT.ok
  })
}
