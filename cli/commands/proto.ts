import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Command } from 'commander'
import { EXIT } from '../exit-code.js'
import { printable } from '../printable.js'
import type { Terminal } from '../terminal.js'

/** The contract within the package; callers' code generators want the same folders. */
const CONTRACT = 'punctual/v1'

const EXAMPLES = `
Examples:
  punctual proto --out proto
  python -m grpc_tools.protoc --proto_path=proto --python_out=. --grpc_python_out=. proto/punctual/v1/*.proto
  buf generate proto

Exit codes: 0 ok, 1 the files cannot be written, 2 usage.`

/** `punctual proto`. */
export function addProto(program: Command, terminal: Terminal): void {
  program
    .command('proto')
    .description('Write the .proto files of the contract, to generate code from in any language.')
    .requiredOption('--out <dir>', 'folder to write to, made if missing')
    .addHelpText('after', EXAMPLES)
    .action(({ out }: { out: string }) => terminal.setExitCode(writeProtos(out, terminal)))
}

function writeProtos(out: string, terminal: Terminal): number {
  const root = dirname(createRequire(import.meta.url).resolve('punctual/package.json'))
  const source = join(root, 'proto', CONTRACT)
  for (const name of readdirSync(source).toSorted()) {
    const target = join(out, CONTRACT, name)
    try {
      terminal.writeFile(target, readFileSync(join(source, name)))
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      terminal.complain(`punctual: cannot write ${printable(target)}: ${printable(why)}`)
      return EXIT.failed
    }
    terminal.say(printable(target))
  }
  return EXIT.ok
}
