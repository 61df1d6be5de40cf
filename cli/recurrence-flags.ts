import { type Command, InvalidArgumentError } from 'commander'
import type { Recurrence } from '../client/index.js'
import { parseDuration } from './duration.js'
import { oneOf, whole } from './flags.js'
import { parseInstant } from './instant.js'

/** The flags of a recurrence, parsed. */
export interface RecurrenceFlags {
  readonly cron?: string
  readonly zone?: string
  readonly every?: number
  readonly minInterval?: number
  readonly delayAfter?: number
  readonly maxRuns?: number
  readonly until?: Date
  readonly jitter?: number
  readonly overlap?: 'skip' | 'queueOne'
  readonly missed?: 'runOnce' | 'runAll' | 'skip'
  readonly dstGap?: 'shift' | 'skip'
  readonly dstOverlap?: 'first' | 'last' | 'both'
}

/** Adds the flags of a recurrence to a command; `--cron` apart, which `preview` takes as an argument. */
export function recurrenceFlags(command: Command): Command {
  return command
    .option('--zone <name>', 'time zone of a cron rule, such as Europe/Berlin (default: UTC)')
    .option('--every <duration>', 'fixed rate: run k is due at first + k times this', parseDuration)
    .option(
      '--min-interval <duration>',
      'next run as soon as one ends, starts at least this far apart',
      parseDuration,
    )
    .option('--delay-after <duration>', 'next run this long after one ends', parseDuration)
    .option('--max-runs <n>', 'end after this many runs', whole(1, Number.MAX_SAFE_INTEGER))
    .option('--until <time>', 'no run is due after this', parseInstant)
    .option('--jitter <duration>', 'moves each due time later by up to this', parseDuration)
    .option(
      '--overlap <policy>',
      'slot that passes during a run: skip (default), queue-one',
      oneOf(['skip', 'queueOne'], 'policy'),
    )
    .option(
      '--missed <policy>',
      'slots that passed while nothing could run: run-once (default), run-all, skip',
      oneOf(['runOnce', 'runAll', 'skip'], 'policy'),
    )
    .option(
      '--dst-gap <policy>',
      'local time that does not exist: shift (default), skip',
      oneOf(['shift', 'skip'], 'policy'),
    )
    .option(
      '--dst-overlap <policy>',
      'local time that comes twice: first (default), last, both',
      oneOf(['first', 'last', 'both'], 'policy'),
    )
}

/** The recurrence that the flags say; nothing when they say none. */
export function recurrenceOf(flags: RecurrenceFlags): Recurrence | undefined {
  const { cron, zone, every, minInterval, delayAfter } = flags
  const rules = [
    cron !== undefined && { cron, ...(zone !== undefined && { timeZone: zone }) },
    every !== undefined && { everyMs: every },
    minInterval !== undefined && { minIntervalMs: minInterval },
    delayAfter !== undefined && { delayAfterMs: delayAfter },
  ].filter((rule) => rule !== false)
  const [rule] = rules
  if (rules.length > 1) {
    throw new InvalidArgumentError(
      'a recurrence has one rule: cron, --every, --min-interval or --delay-after.',
    )
  }
  const policies = {
    ...(flags.maxRuns !== undefined && { maxRuns: flags.maxRuns }),
    ...(flags.until !== undefined && { until: flags.until }),
    ...(flags.jitter !== undefined && { jitterMs: flags.jitter }),
    ...(flags.overlap !== undefined && { overlap: flags.overlap }),
    ...(flags.missed !== undefined && { missed: flags.missed }),
    ...(flags.dstGap !== undefined && { dstGap: flags.dstGap }),
    ...(flags.dstOverlap !== undefined && { dstOverlap: flags.dstOverlap }),
  }
  if (zone !== undefined && cron === undefined) {
    throw new InvalidArgumentError('--zone belongs to a cron rule.')
  }
  if (rule === undefined) {
    const [lone] = Object.keys(policies)
    if (lone === undefined) return undefined
    throw new InvalidArgumentError(
      'a recurrence needs a rule: --cron, --every, --min-interval or --delay-after.',
    )
  }
  return { ...rule, ...policies }
}
