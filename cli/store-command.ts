import type { Command } from 'commander'
import { EXIT } from './exit-code.js'
import { jsonLine } from './json-line.js'
import { printable } from './printable.js'
import { progressLine } from './views/progress-view.js'
import type { Terminal } from './terminal.js'

/** What a command that works on the files of a store works with. */
export interface StoreContext {
  readonly terminal: Terminal
  readonly json: boolean
  /** Aborted at SIGINT or SIGTERM. Who does not ask for it is ended by them. */
  readonly signal: AbortSignal
  readonly sayJson: (value: unknown) => void
  /** Shows how far it is, from 0 to 1, where that is known; to a person only, and gone when something is said. */
  readonly progress: (what: string, done: number | undefined) => void
}

const EXIT_CODES = `
Exit codes: 0 ok, 1 failed, 2 usage, 130 interrupted.`

/** Gives a command that needs no server its work; how errors are told and how the process ends is the same for all. */
export function storeCommand(
  command: Command,
  terminal: Terminal,
  work: (context: StoreContext, argument: string) => Promise<number>,
): Command {
  return command
    .option('--json', 'print JSON, one object a line, for scripts')
    .addHelpText('after', EXIT_CODES)
    .action(async (argument: string) => {
      const json = command.opts<{ json?: boolean }>().json ?? false
      const interrupt = new AbortController()
      let forget = (): void => {}
      try {
        const code = await work(
          {
            terminal,
            json,
            get signal() {
              forget()
              forget = terminal.onInterrupt(() => interrupt.abort())
              return interrupt.signal
            },
            sayJson: (value) => terminal.say(jsonLine(value)),
            progress(what, done) {
              if (terminal.isProgressSeen) terminal.showProgress(progressLine(what, done))
            },
          },
          argument,
        )
        terminal.setExitCode(code)
      } catch (error) {
        terminal.setExitCode(interrupt.signal.aborted ? EXIT.interrupted : EXIT.failed)
        if (!interrupt.signal.aborted) terminal.complain(`punctual: ${printable(textOf(error))}`)
      } finally {
        terminal.hideProgress()
        forget()
      }
    })
}

/** The one line that a store's errors are, and those of the file system, or where a fault of this program is. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.name === 'StoreOpenError' || 'syscall' in error
    ? error.message
    : (error.stack ?? error.message)
}
