import { describe, expect, it } from 'vitest'
import { EXPORT_FORMAT, type ExportLine } from '../../../server/store/transfer/export-line.js'
import { readLine } from '../../../server/store/transfer/read-line.js'
import { writeLine } from '../../../server/store/transfer/write-line.js'
import { DEFAULT_RETRY } from '../../../server/task/retry.js'
import { aResult } from '../../results/entries.js'
import { EVERYTHING, newTask, START } from '../stored-tasks.js'

const HEADER: ExportLine = {
  type: 'export',
  format: EXPORT_FORMAT,
  nextStartId: 11,
  newestArrival: 10,
  lastChange: START,
  logFloor: { position: 3, commitTime: START },
}
const TASK: ExportLine = {
  type: 'task',
  logPosition: 2,
  task: { ...newTask({ spec: { id: 'a' } }), arrival: 4 },
}
const RESULT: ExportLine = {
  type: 'result',
  position: 7,
  commitTime: START,
  arrival: 4,
  result: aResult({ outcome: 'timedOut', startTimeUs: START * 1_000 + 7 }),
}
const CONSUMER: ExportLine = {
  type: 'consumer',
  consumer: {
    name: 'audit',
    position: 0,
    filter: { ...EVERYTHING, outcomes: new Set(['timedOut', 'skipped']), labels: { teamName: 'aB_c' } },
    lossy: true,
    createTime: START,
    activeTime: START,
  },
}
const ENDED: ExportLine = {
  type: 'ended',
  position: 2,
  commitTime: START,
  outcome: 'cancelled',
  run: 3,
  task: {
    ...newTask({
      state: 'cancelled',
      endTime: START,
      spec: { id: 'b', payload: { kind: 'forgotten', hash: 'abc' }, labels: { A_b: '' } },
    }),
    arrival: 5,
  },
}

/** A line as it stands in a file, changed. */
const changed = (line: ExportLine, change: (object: Given) => void): string => {
  const object = JSON.parse(writeLine(line)) as Given
  change(object)
  return JSON.stringify(object)
}

// what a person's editor could make of a line
interface Given {
  type: unknown
  format?: unknown
  position?: unknown
  more?: unknown
  task: { state: unknown; run: unknown; due_time: unknown; arrival?: unknown; spec: Record<string, unknown> }
  result: Record<string, unknown>
}

describe('a line of an export', () => {
  it.each([HEADER, TASK, RESULT, CONSUMER, ENDED, { type: 'end', lines: 4 } as const])(
    'of type $type is read as it was written',
    (line) => {
      expect(readLine(writeLine(line))).toEqual(line)
    },
  )

  it('has names and words as in the .proto files, times as text, and leaves out what is 0, false or empty', () => {
    expect(JSON.parse(writeLine(RESULT))).toEqual({
      type: 'result',
      position: 7,
      commit_time: '2030-01-01T00:00:00.000Z',
      arrival: 4,
      result: {
        kind: 'result',
        outcome: 'timed_out',
        task_id: 'task-1',
        handler: 'echo',
        run: 1,
        attempts: 1,
        due_time: '2027-01-15T08:00:00.001Z',
        start_time: '2030-01-01T00:00:00.000007Z',
        end_time: '2027-01-15T08:00:01.000000Z',
        worker_id: 'thread-1',
        last: true,
      },
    })
  })

  it('leaves the keys of users alone', () => {
    expect(writeLine(CONSUMER)).toContain('"labels":{"teamName":"aB_c"}')
  })

  it.each<[what: string, line: string, says: string]>([
    ['text that is no JSON', '{"type":', 'is not JSON'],
    ['another JSON', '[]', 'must be object'],
    ['an unknown type', '{"type":"tasks"}', 'type must be export, consumer, task, result, ended or end'],
    ['a later format', changed(HEADER, (o) => (o.format = 2)), 'format is 2; this version reads 1'],
    ['an unknown member', changed(TASK, (o) => (o.more = 1)), "has 'more', which no export has there"],
    [
      'an unknown member further down',
      changed(TASK, (o) => (o.task.spec['max_runs'] = 1)),
      "task.spec has 'max_runs', which no export has there",
    ],
    [
      'a name as code has it',
      changed(TASK, (o) => (o.task.spec['dueTime'] = 1)),
      "'dueTime' is no name that an export has",
    ],
    [
      'a word as code has it',
      changed(RESULT, (o) => (o.result['outcome'] = 'timedOut')),
      "'timedOut' is no name that an export has",
    ],
    [
      'an unknown word',
      changed(RESULT, (o) => (o.result['outcome'] = 'lost')),
      'result.outcome must be succeeded or failed or timed_out or cancelled or expired or skipped',
    ],
    ['a missing member', changed(TASK, (o) => delete o.task.arrival), 'task.arrival is missing'],
    ['a run 0', changed(TASK, (o) => (o.task.run = 0)), 'task.run must be at least 1'],
    ['half a run', changed(TASK, (o) => (o.task.run = 1.5)), 'task.run must be a whole number from 1'],
    [
      'a local time',
      changed(TASK, (o) => (o.task.due_time = '2030-01-01T00:00:00.000+01:00')),
      'task.due_time must be a time in UTC, such as 2026-12-01T10:00:00.000Z',
    ],
    [
      'a day that no month has',
      changed(TASK, (o) => (o.task.due_time = '2030-02-31T00:00:00.000Z')),
      'task.due_time must be a time in UTC',
    ],
    [
      'a priority out of bounds',
      changed(TASK, (o) => (o.task.spec['priority'] = 101)),
      'task.spec.priority must be from -100 to 100',
    ],
    [
      'two inputs',
      changed(TASK, (o) => Object.assign(o.task.spec, { input_json: '1', input_base64: 'AA==' })),
      'task.spec has more than one input',
    ],
    [
      'an input that is no JSON',
      changed(TASK, (o) => (o.task.spec['input_json'] = '{')),
      'task.spec.input_json must be JSON, as text',
    ],
    [
      'base64 that is cut off',
      changed(TASK, (o) => (o.task.spec['input_base64'] = 'AAA')),
      'task.spec.input_base64 must be base64',
    ],
    [
      'a cron expression that never comes',
      changed(
        TASK,
        (o) =>
          (o.task.spec['recurrence'] = {
            kind: 'cron',
            expression: '0 0 30 2 *',
            time_zone: 'UTC',
            overlap: 'skip',
            missed: 'run_once',
            dst_gap: 'shift',
            dst_overlap: 'first',
          }),
      ),
      'task.spec.recurrence ',
    ],
    [
      'a label that objects cannot hold',
      writeLine(CONSUMER).replace('"teamName"', '"__proto__"'),
      "labels must not have the key '__proto__'",
    ],
    ['a live task that has ended', changed(TASK, (o) => (o.task.state = 'failed')), 'task has ended'],
    ['an ended task that lives', changed(ENDED, (o) => (o.task.state = 'running')), 'task has not ended'],
  ])('with %s is refused, with the reason', (_, line, says) => {
    expect(() => readLine(line)).toThrow(says)
  })

  it('of the default retry policy is the default itself, which the store leaves out', () => {
    const read = readLine(writeLine(TASK))
    expect(read.type === 'task' && read.task.spec.retry).toBe(DEFAULT_RETRY)
  })
})
