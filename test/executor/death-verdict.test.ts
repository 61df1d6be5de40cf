import { expect, it } from 'vitest'
import { type Death, verdictOn } from '../../server/executor/death-verdict.js'

const EXITED = { code: 'WORKER_EXITED', message: 'it exited' } as const
const OUT_OF_MEMORY = { code: 'OUT_OF_MEMORY', message: 'no memory' } as const
const death = (given: Partial<Death>): Death => ({
  ending: EXITED,
  why: 'itself',
  running: [1, 2],
  exitedBy: 0,
  inCall: 0,
  ...given,
})

/** What becomes of the attempts in rows 1 and 2. */
function verdicts(given: Partial<Death>): string[] {
  const facts = death(given)
  return facts.running.map((row) => {
    const outcome = verdictOn(row, facts)
    if (outcome.kind === 'failed') return `failed ${outcome.error.code}`
    return outcome.kind === 'interrupted' && outcome.suspect === true ? 'suspect' : outcome.kind
  })
}

it.each<[string, Partial<Death>, string[]]>([
  ['one called exit', { exitedBy: 2 }, ['interrupted', 'failed WORKER_EXITED']],
  ['code of one that had ended called exit', { exitedBy: -1 }, ['interrupted', 'interrupted']],
  ['the same, one runs', { exitedBy: -1, running: [1] }, ['interrupted']],
  ['one alone', { running: [1] }, ['failed WORKER_EXITED']],
  ['one alone, for want of memory', { running: [2], ending: OUT_OF_MEMORY }, ['failed OUT_OF_MEMORY']],
  [
    'for want of memory, whoever was being called',
    { ending: OUT_OF_MEMORY, inCall: 1 },
    ['suspect', 'suspect'],
  ],
  ['it stood still in a call', { why: 'blocked', inCall: 1 }, ['failed WORKER_CRASHED', 'interrupted']],
  ['it stood still, nobody knows in what', { why: 'blocked' }, ['suspect', 'suspect']],
  ['one lingered in it', { why: 'lingered', inCall: 1 }, ['suspect', 'suspect']],
  ['one lingered in it, and one ran', { why: 'lingered', running: [1] }, ['suspect']],
])('a thread is gone: %s', (_, given, expected) => {
  expect(verdicts(given)).toEqual(expected)
})
