import type { Command } from 'commander'
import { EXIT } from '../exit-code.js'
import { printable } from '../printable.js'
import { storeCommand } from '../store-command.js'
import type { Terminal } from '../terminal.js'

const EXAMPLES = `
One JSON object a line: tasks with their whole state, results, durable consumers; docs/export-format.md says what each means. A server may go on
meanwhile, but its write-ahead log grows until this has ended: of a busy one, export a backup.

Examples:
  punctual export /var/lib/punctual --out monday.jsonl
  punctual export /backups/monday.db | gzip > monday.jsonl.gz
  punctual export /var/lib/punctual | jq -c 'select(.type == "task") | .task.spec.id'
  punctual import --data /var/lib/new monday.jsonl`

/** `punctual export`. */
export function addExport(program: Command, terminal: Terminal): void {
  const command = program
    .command('export <path>')
    .description('Write all that a data folder or a backup holds as lines of JSON.')
    .option('--out <file>', 'a file that does not exist (default: stdout)')
    .addHelpText('after', EXAMPLES)
  storeCommand(command, terminal, async (context, path) => {
    const { json, sayJson, progress } = context
    const { out } = command.opts<{ out?: string }>()
    const { exportChunks, exportFile } = await import('../../server/compose/store-files.js')
    if (out === undefined) {
      for (const { text, done } of exportChunks(path)) {
        await terminal.write(text)
        // between lines on the same screen a bar would only be in the way
        if (!terminal.isTerminal) progress('exporting', done)
      }
      return EXIT.ok
    }
    const { signal } = context
    const { lines, bytes } = await exportFile({
      path,
      to: out,
      signal,
      onProgress: (done) => progress('exporting', done),
    })
    if (json) sayJson({ file: out, lines, bytes })
    else
      terminal.say(
        `${printable(out)}: ${lines.toLocaleString('en-US')} lines, ${bytes.toLocaleString('en-US')} bytes`,
      )
    return EXIT.ok
  })
}
