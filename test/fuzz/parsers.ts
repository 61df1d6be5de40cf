import { isDeepStrictEqual } from 'node:util'
import { InvalidArgumentError } from 'commander'
import * as fc from 'fast-check'
import { parseDuration } from '../../cli/duration.js'
import { parseInstant, parsePast } from '../../cli/instant.js'
import { parseJsonArgument } from '../../cli/json-argument.js'
import { checkJson } from '../../server/admission/json-rules.js'
import { ConfigError, readConfig } from '../../server/config/read-config.js'
import { SETTINGS } from '../../server/config/settings.js'
import { fromCursor, toCursor } from '../../server/results/cursor.js'
import { fromPageToken, toPageToken } from '../../server/rpc/page-token.js'
import { StoreOpenError } from '../../server/store/task-store.js'
import { readLine } from '../../server/store/transfer/read-line.js'
import { writeLine } from '../../server/store/transfer/write-line.js'
import { InvalidRequestError, SchedulerError, type Violation } from '../../server/task/errors.js'
import { cronNext, cronRule } from '../../server/task/recurrence/cron-next.js'
import { parseCron } from '../../server/task/recurrence/cron-expression.js'
import { RecurrenceError } from '../../server/task/recurrence/recurrence-error.js'
import { completeRecurrence, validateRecurrence } from '../../server/task/recurrence/validate-recurrence.js'
import { anyText } from './any-text.js'

/** A parser, what it is fed with, and what must hold whatever that is. `check` throws when it does not. */
export interface Parser {
  readonly name: string
  readonly input: fc.Arbitrary<unknown>
  readonly check: (input: never) => void
}

type ErrorClass = abstract new (...args: never[]) => Error

/** Its value, or nothing when it refuses in the one way in which it may. */
function orRefused<T>(parse: () => T, refusal: ErrorClass): T | undefined {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof refusal)) throw error
    if (error.message.trim() === '') throw new Error('it is refused without a reason', { cause: error })
    return undefined
  }
}

function must(holds: boolean, what: string): void {
  if (!holds) throw new Error(what)
}

const parser = <T>(name: string, input: fc.Arbitrary<T>, check: (input: T) => void): Parser => ({
  name,
  input,
  check,
})

const cronText = anyText('0123456789 */,-?#LWJANFEBMONSUN@', [
  '*/5 * * * *',
  '30 2 * * MON-FRI',
  '0 0 29 2 *',
  '0 0 1,15 */3 0-6',
  '15-45/10 8-18 * JAN,JUL *',
  '0 */2 * * * *',
  '@daily',
  '0 12 * * 7',
])
const durationText = anyText('0123456789.msdhwPTYD -+e', [
  '250ms',
  '1.5s',
  '2h30m',
  '1d',
  'PT2H30M',
  '0.4ms',
  'P1DT0.5S',
  '1w2d3h',
])
const sizeText = anyText('0123456789.kKMGTiB ', ['65536', '500kB', '4MiB', '1.5GiB', '0B'])
const timeText = anyText('0123456789-:.,TZ+ ', [
  '2027-03-13T12:00:00Z',
  '2027-03-13',
  '2027-03-13 12:00',
  '2027-03-13T12:00:00.123456+0530',
  '2024-02-29T23:59:60Z',
])
const jsonText = anyText('{}[]",:0123456789.eE+-tfnul\\ud8 ', [
  '{"a":[1,2.5,{"b":null}],"c":"\\ud83d\\ude00"}',
  '{"__proto__":1}',
  '[1e400,-0,9007199254740993]',
  '"\\ud800"',
  '{"a":1,"a":2}',
])
const exportText = anyText('{}[]",:0123456789.-TZ_abcdefghijklmnopqrstu', [
  '{"type":"export","format":1,"next_start_id":11,"newest_arrival":10,"log_floor":{"position":0}}',
  '{"type":"task","log_position":0,"task":{"arrival":1,"state":"scheduled","run":1,"due_time":"2030-01-01T00:00:00.000Z","not_before":"2030-01-01T00:00:00.000Z","create_time":"2030-01-01T00:00:00.000Z","spec":{"id":"a","handler":"work","input_json":"{}","when":{"kind":"now"},"recurrence":{"kind":"every","interval_ms":60000,"overlap":"skip","missed":"run_once"},"attempt_timeout_ms":0,"labels":{"a":"b"},"remember_id_for_ms":1}}}',
  '{"type":"result","position":1,"commit_time":"2030-01-01T00:00:00.000Z","arrival":6,"result":{"kind":"result","outcome":"timed_out","task_id":"a","handler":"work","run":1,"output_base64":"AAA=","due_time":"2030-01-01T00:00:00.000Z","start_time":"2030-01-01T00:00:00.000001Z"}}',
  '{"type":"consumer","consumer":{"name":"a","position":0,"create_time":"2030-01-01T00:00:00.000Z","active_time":"2030-01-01T00:00:00.000Z","filter":{"handlers":["b"]}}}',
  '{"type":"end","lines":4}',
])
const LOG = 'a1b2c3d4e5f6'
const FILTER = { states: [], handlers: [], labels: {} }
const tomlText = anyText('abcdefstu_=[]"\'\n#.0123456789 ', [
  'max_streams = 50',
  'listen = "127.0.0.1:0"\ndurability = "full"',
  '[data]\na = 1',
  'handlers = ["a.js", "b.js"]',
  'window = 5',
  '"__proto__" = 1',
])

/** Everything that reads what people or callers write. */
export const PARSERS: readonly Parser[] = [
  parser(
    'cron expressions',
    fc.tuple(cronText, fc.integer({ min: 0, max: 4_102_444_800_000 })),
    ([text, base]) => {
      const cron = orRefused(() => parseCron(text), RecurrenceError)
      if (!cron) return
      const rule = cronRule({
        kind: 'cron',
        expression: text,
        timeZone: 'Europe/Berlin',
        overlap: 'skip',
        missed: 'runOnce',
        dstGap: 'shift',
        dstOverlap: 'both',
      })
      const next = cronNext(rule, base)
      // a rule that was taken comes true some day
      must(next !== undefined, 'it was taken, but never comes')
      must(next !== undefined && next.due > base, `the next due time ${next?.due} is not after ${base}`)
    },
  ),
  parser(
    'recurrences',
    fc.tuple(
      cronText,
      anyText('ABCDEurope/_+-0123 ', ['UTC', 'Europe/Berlin', 'GMT+5', 'America/Nowhere']),
      fc.double(),
      fc.double(),
    ),
    ([expression, timeZone, interval, jitter]) => {
      for (const input of [
        { kind: 'cron', expression, timeZone, jitterMs: jitter } as const,
        { kind: 'every', intervalMs: interval, jitterMs: jitter, maxRuns: jitter, until: interval } as const,
        { kind: 'minInterval', intervalMs: interval } as const,
      ]) {
        const found = validateRecurrence(input)
        for (const { field, description } of found)
          must(field.startsWith('task.recurrence') && description !== '', `${field}: ${description}`)
        if (found.length === 0) completeRecurrence(input)
      }
    },
  ),
  parser('durations of the command', durationText, (text) => {
    const ms = orRefused(() => parseDuration(text), InvalidArgumentError)
    if (ms === undefined) return
    must(Number.isInteger(ms) && ms >= 0, `${ms} is no duration`)
    must(ms > 0 || !/[1-9]/.test(text), 'it became 0')
  }),
  parser('durations of settings', durationText, (text) => {
    const read = SETTINGS.drainLimit.kind.safeParse(text)
    if (!read.success) return
    must(Number.isInteger(read.data) && read.data >= 0, `${read.data} is no duration`)
    must(read.data > 0 || !/[1-9]/.test(text), 'it became 0')
  }),
  parser('sizes of settings', sizeText, (text) => {
    const read = SETTINGS.maxInputBytes.kind.safeParse(text)
    if (read.success) must(Number.isSafeInteger(read.data) && read.data > 0, `${read.data} is no size`)
  }),
  parser(
    'addresses',
    anyText('0123456789abcdef.:[]localhost', ['127.0.0.1:50051', '[::1]:0', 'localhost:80']),
    (text) => {
      const read = SETTINGS.listen.kind.safeParse(text)
      if (read.success) must(read.data.port >= 0 && read.data.port <= 65_535 && read.data.host !== '', text)
    },
  ),
  parser(
    'settings by name',
    fc.dictionary(
      fc.constantFrom(...Object.keys(SETTINGS)),
      fc.oneof(fc.anything(), durationText, sizeText),
      { maxKeys: 4 },
    ),
    (flags) => {
      orRefused(() => readConfig({ flags, env: {} }), ConfigError)
    },
  ),
  parser('times of the command', timeText, (text) => {
    const time = orRefused(() => parseInstant(text), InvalidArgumentError)
    if (time) must(Number.isInteger(time.getTime()), `${text} is no time`)
  }),
  parser('times or how long ago', fc.oneof(timeText, durationText), (text) => {
    const time = orRefused(() => parsePast(text, 1_800_000_000_000), InvalidArgumentError)
    if (time) must(Number.isInteger(time.getTime()), `${text} is no time`)
  }),
  parser('lines of an export', exportText, (text) => {
    const line = orRefused(() => readLine(text), StoreOpenError)
    // what is taken is written again as something that means the same
    if (line) must(isDeepStrictEqual(readLine(writeLine(line)), line), `it became ${writeLine(line)}`)
  }),
  parser('JSON of the command', jsonText, (text) => {
    orRefused(() => parseJsonArgument(text), Error)
  }),
  parser('JSON of a request', jsonText, (text) => {
    const found: Violation[] = []
    checkJson(text, 'task.input_json', found)
    for (const { field, description } of found)
      must(field.startsWith('task.input_json') && description !== '', `${field}: ${description}`)
    // what is taken can be read by the handler's thread
    if (found.length === 0) JSON.parse(text)
  }),
  parser(
    'cursors',
    anyText('MTo0Mjp0aGF0LWxvZy1pZA=_-', [
      toCursor(LOG, 0),
      toCursor(LOG, 42),
      toCursor('other', 7),
      'MTo0Mjo',
    ]),
    (text) => {
      const position = orRefused(() => fromCursor(text, LOG), SchedulerError)
      if (position !== undefined) must(toCursor(LOG, position) === text, 'another text means the same')
    },
  ),
  parser(
    'page tokens',
    anyText('WzQyLCJpZCIsImhhc2giXQ=_-', [
      toPageToken({ dueTime: 0, id: '' }, FILTER),
      toPageToken({ dueTime: 42, id: 'a/b' }, FILTER),
    ]),
    (text) => {
      const key = orRefused(() => fromPageToken(text, FILTER), InvalidRequestError)
      if (key) must(Number.isSafeInteger(key.dueTime) && typeof key.id === 'string', JSON.stringify(key))
    },
  ),
]

/** What the file of settings is fed with; whoever runs it writes the file. */
export const CONFIG_TEXT = tomlText

/** Reads the settings of a file. */
export function checkConfigFile(file: string): void {
  orRefused(() => readConfig({ flags: { config: file }, env: {} }), ConfigError)
}
