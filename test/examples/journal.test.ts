import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Journal, type JournalEntry, readJournal } from '../../examples/typescript/journal.js'

const entry = (cursor: string, ...sequences: number[]): JournalEntry => ({
  cursor,
  results: sequences.map((sequence) => ({
    sequence,
    taskId: 'ä',
    run: 1,
    outcome: 'succeeded',
    output: 'x',
  })),
})

describe('the journal of a consumer', () => {
  let folder: string
  let path: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'journal-'))
    path = join(folder, 'results.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('begins without a cursor and goes on after the last entry', () => {
    const first = new Journal(path)
    expect(first.cursor).toBeUndefined()
    first.append(entry('a', 1, 2))
    first.append(entry('b', 3))
    first.close()
    const second = new Journal(path)
    expect(second.cursor).toBe('b')
    second.append(entry('c', 4))
    second.close()
    expect(readJournal(readFileSync(path, 'utf8'))).toEqual([entry('a', 1, 2), entry('b', 3), entry('c', 4)])
  })

  it('forgets an entry that a crash cut short: it will come again', () => {
    const first = new Journal(path)
    first.append(entry('a', 1))
    first.close()
    appendFileSync(path, JSON.stringify(entry('b', 2)).slice(0, 20))
    const second = new Journal(path)
    expect(second.cursor).toBe('a')
    second.append(entry('b', 2))
    second.close()
    expect(readJournal(readFileSync(path, 'utf8'))).toEqual([entry('a', 1), entry('b', 2)])
  })
})
