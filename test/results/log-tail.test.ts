import { describe, expect, it } from 'vitest'
import { LogTail } from '../../server/results/log-tail.js'
import type { LogEntry } from '../../server/store/task-store.js'
import { anEntry } from './entries.js'

const MiB = 1024 * 1024
const at = (...positions: number[]): LogEntry[] => positions.map((position) => anEntry({}, { position }))
const big = (position: number): LogEntry => anEntry({}, { position, bytes: new Uint8Array(MiB) })
const positions = (entries: readonly LogEntry[]): number[] => entries.map(({ position }) => position)
const all = (): boolean => true

describe('the tail of the log', () => {
  it('gives what was appended after a position, in order, whatever the gaps', () => {
    const tail = new LogTail(10)
    tail.append(at(12, 15))
    tail.append(at(19))
    expect(tail.through).toBe(19)
    expect(positions(tail.read(10, all, 9, MiB).entries)).toEqual([12, 15, 19])
    expect(positions(tail.read(12, all, 9, MiB).entries)).toEqual([15, 19])
    expect(positions(tail.read(13, all, 9, MiB).entries)).toEqual([15, 19])
    expect(tail.read(19, all, 9, MiB)).toEqual({ entries: [], through: 19 })
  })

  it('does not repeat what was in the log when it began', () => {
    const tail = new LogTail(10)
    tail.append(at(9, 10, 11))
    expect(positions(tail.read(10, all, 9, MiB).entries)).toEqual([11])
  })

  it('stops at so many entries or bytes, with at least one, and says how far it has looked', () => {
    const tail = new LogTail(0)
    tail.append([...at(1, 2, 3), big(4), big(5)])
    expect(tail.read(0, all, 2, MiB)).toMatchObject({ through: 2 })
    expect(positions(tail.read(3, all, 9, 10).entries)).toEqual([4])
    expect(tail.read(0, ({ position }) => position === 1, 9, MiB)).toMatchObject({ through: 5 })
  })

  it('forgets the oldest beyond a few MiB, and knows that it no longer reaches them', () => {
    const tail = new LogTail(0)
    for (let position = 1; position <= 40; position++) tail.append([big(position)])
    expect(tail.reaches(0)).toBe(false)
    expect(tail.reaches(40)).toBe(true)
    const reached = Array.from({ length: 41 }, (_, i) => i).filter((position) => tail.reaches(position))
    expect(reached.length).toBeLessThan(10)
    const [first = 0] = reached
    expect(positions(tail.read(first, all, 99, 99 * MiB).entries)).toEqual(reached.slice(1))
  })
})
