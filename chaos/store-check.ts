import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { encodeResult } from '../server/rpc/result-codec.js'
import { decodeResult } from '../server/rpc/result-decode.js'
import { checkStore as checkInvariants } from '../server/store/sqlite/check/check-store.js'
import { exported, transferred } from '../test/store/transferred.js'
import type { Verdict } from './checks.js'
import { groupBy } from './group-by.js'
import type { Victim } from './victim.js'

interface LogLine {
  readonly level?: string | number
  readonly msg?: string
  readonly message?: string
}

/** The store is whole and can be moved, the server ended well, and nothing was logged that nobody foresaw. */
export async function checkStore(
  victim: Victim,
  exitCode: number | undefined,
  readerFailure: Error | undefined,
): Promise<readonly Verdict[]> {
  return [
    {
      promise: 'SIGTERM ends the server with code 0',
      checked: 1,
      broken: exitCode === 0 ? [] : [`ended with ${exitCode}`],
    },
    {
      promise: 'the reader was never turned away',
      checked: 1,
      broken: readerFailure === undefined ? [] : [readerFailure.message],
    },
    ...invariants(victim),
    await move(victim),
    {
      promise: 'nothing happened that nobody foresaw',
      checked: lines(victim).length,
      broken: lines(victim).filter((line) =>
        /nobody foresaw|no task in memory|newer one|cannot be stored/.test(line),
      ),
    },
  ]
}

/** Messages of level error, each with how often it came. */
export function errorsLogged(victim: Victim): readonly string[] {
  const messages = lines(victim).flatMap((line): string[] => {
    try {
      const { level, msg, message } = JSON.parse(line) as LogLine
      return level === 'error' || level === 50 ? [msg ?? message ?? line] : []
    } catch {
      return [line.slice(0, 200)]
    }
  })
  return [...groupBy(messages, (it) => it)].map(([message, all]) => `${all.length} × ${message}`)
}

function lines({ logFile }: Victim): readonly string[] {
  return readFileSync(logFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
}

/** What `punctual check` holds a store to. */
const invariants = ({ data }: Victim): readonly Verdict[] =>
  checkInvariants(data).findings.map(({ invariant, checked, broken, examples }) => ({
    promise: `the store: ${invariant}`,
    checked,
    broken: broken > examples.length ? [...examples, `and ${broken - examples.length} more`] : examples,
  }))

/** Every result is one that this version writes again as it is, and what is imported from an export is the same store. */
async function move({ data }: Victim): Promise<Verdict> {
  const codec = { encode: encodeResult, decode: decodeResult }
  const written = exported(data, codec).split('\n')
  const sealed = written.filter((line) => line.includes('"sealed_base64":'))
  const { before, after } = await transferred(data, codec)
  return {
    promise: 'the store: what is imported from its export is the same',
    checked: written.length - 1,
    broken: [
      ...sealed.slice(0, 5),
      ...(isDeepStrictEqual(after, before) ? [] : ['the imported store is another']),
    ],
  }
}
