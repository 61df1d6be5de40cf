/**
 * `tsx scripts/run-readme.ts README.md ...`: runs what pages tell their readers to run, each page in a terminal of its own, in order.
 *
 * Every block of shell commands has a mark before it, which a reader does not see:
 *
 *     <!-- check: run -->                 has to end with 0
 *     <!-- check: run shows="55" -->      and to print this
 *     <!-- check: run for=3s -->          goes on until Ctrl-C, which comes after so long; has to end with 0 then
 *     <!-- check: run leaves=a.txt -->    and leaves a file or folder (several with commas), removed at the end of the page
 *     <!-- check: run needs=grpcurl -->   left out, aloud, where there is no such program
 *     <!-- check: serve port=50051 -->    goes on in the background, until the next one or the end of the page
 *     <!-- check: elsewhere="why" -->     not run
 *
 * and a block in any language may be a file that the reader writes: `<!-- check: write=hello.js -->`.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { type FencedBlock, fencedBlocks } from './fenced-blocks.js'
import { ShellTerminal } from './shell-terminal.js'

const SHELL_LANGUAGES = new Set(['sh', 'bash', 'shell', 'console'])

for (const page of process.argv.slice(2)) await runPage(page)

async function runPage(page: string): Promise<void> {
  const terminal = new ShellTerminal(process.cwd())
  const made: string[] = []
  try {
    for (const block of fencedBlocks(readFileSync(page, 'utf8'))) {
      const place = `${page}:${block.line}`
      try {
        await runBlock(block, place, terminal, made)
      } catch (error) {
        throw new Error(`${place}: ${error instanceof Error ? error.message : String(error)}`, {
          cause: error,
        })
      }
    }
  } finally {
    for (const file of made) rmSync(file, { recursive: true, force: true })
    await terminal.close()
  }
}

async function runBlock(
  { language, text, check }: FencedBlock,
  place: string,
  terminal: ShellTerminal,
  made: string[],
): Promise<void> {
  if (check === undefined) {
    if (SHELL_LANGUAGES.has(language))
      throw new Error('commands without a mark that says how they are checked')
    return
  }
  console.log(`\n--- ${place} ${[...check].flat().join(' ')}`)
  const [needs, file] = [check.get('needs'), check.get('write')]
  if (check.has('elsewhere')) return
  if (needs !== undefined && !terminal.hasProgram(needs)) {
    console.log(`left out: there is no ${needs} here`)
  } else if (file !== undefined) {
    make(resolve(terminal.folder, file), made)
    writeFileSync(file, text)
  } else if (check.has('serve')) {
    await terminal.serve(text, Number(check.get('port')))
  } else if (check.has('run')) {
    for (const name of check.get('leaves')?.split(',') ?? []) make(resolve(terminal.folder, name), made)
    const output = await terminal.run(text, seconds(check.get('for')))
    const shows = check.get('shows') ?? ''
    if (!output.includes(shows)) throw new Error(`printed nothing like: ${shows}`)
  } else {
    throw new Error('a mark must say run, serve, write or elsewhere')
  }
}

/** Notes a file that is about to be made, so that it can be removed; never one that was there before. */
function make(file: string, made: string[]): void {
  if (existsSync(file)) throw new Error(`${file} is there already`)
  made.push(file)
}

function seconds(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  if (!/^\d+s$/.test(text)) throw new Error(`'for' must be seconds such as 3s, got ${text}`)
  return Number.parseInt(text, 10)
}
