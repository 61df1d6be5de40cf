import type { Command } from 'commander'
import { EXIT } from '../exit-code.js'
import { printable } from '../printable.js'
import { storeCommand } from '../store-command.js'
import type { Terminal } from '../terminal.js'

const EXAMPLES = `
Makes a store in a data folder that has none: all of the export or nothing. Stop the server that the export is of before you start one here, else
tasks run twice. Cursors of the old log are refused; what ran when it was exported runs again.

Examples:
  punctual import --data /var/lib/new monday.jsonl
  gunzip -c monday.jsonl.gz | punctual import --data /var/lib/new -`

/** `punctual import`. */
export function addImport(program: Command, terminal: Terminal): void {
  const command = program
    .command('import')
    .argument('[file]', 'what export wrote; - is stdin', '-')
    .description('Make a store of what export wrote.')
    .requiredOption('--data <folder>', 'data folder that has no store')
    .addHelpText('after', EXAMPLES)
  storeCommand(command, terminal, async ({ json, signal, sayJson, progress }, file) => {
    const { data } = command.opts<{ data: string }>()
    const { importLines } = await import('../../server/compose/store-files.js')
    const { chunks, size } = terminal.openBytes(file)
    const lines = await importLines({
      data,
      from: chunks,
      signal,
      onRead(bytes) {
        if (size === undefined) progress(`importing  ${Math.floor(bytes / 1e6)} MB`, undefined)
        else progress('importing', bytes / size)
      },
      onCheck: ({ what, done }) => progress(`checking ${what}`, done),
    })
    if (json) sayJson({ data, lines })
    else terminal.say(`${printable(data)}: ${lines.toLocaleString('en-US')} lines`)
    return EXIT.ok
  })
}
