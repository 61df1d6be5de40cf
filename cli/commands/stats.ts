import { type Command, Option } from 'commander'
import { clientCommand, type CommandContext } from '../client-command.js'
import { parseDuration } from '../duration.js'
import { EXIT } from '../exit-code.js'
import type { Terminal } from '../terminal.js'
import { statsView } from '../views/stats-view.js'

interface StatsFlags {
  readonly watch?: boolean
  readonly interval: number
}

/** `punctual stats`. */
export function addStats(program: Command, terminal: Terminal): void {
  const command = program
    .command('stats')
    .description('Show counts, slots, lateness, durations, the store, and what the watchdog has found.')
    .option('--watch', 'again and again, until Ctrl-C')
    .addOption(
      new Option('--interval <duration>', 'how often, with --watch')
        .argParser(parseDuration)
        .default(1_000, '1s'),
    )
  clientCommand<StatsFlags>(command, terminal, stats)
}

async function stats({
  client,
  terminal,
  options,
  json,
  signal,
  sayJson,
}: CommandContext<StatsFlags>): Promise<number> {
  const show = async (): Promise<void> => {
    const found = await client.stats({ signal })
    if (json) sayJson(found)
    else if (options.watch === true && terminal.isTerminal) terminal.redraw(statsView(found, terminal))
    else terminal.say(statsView(found, terminal))
  }
  await show()
  while (options.watch === true && !signal.aborted) {
    await terminal.sleep(Math.max(100, options.interval), signal)
    if (signal.aborted) break
    await show()
  }
  return EXIT.ok
}
