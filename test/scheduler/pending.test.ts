import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PendingHeap } from '../../server/scheduler/pending-heap.js'
import { PendingList } from '../../server/scheduler/pending-list.js'
import type { PendingTasks } from '../../server/scheduler/pending-tasks.js'

describe.each([
  ['PendingHeap', () => new PendingHeap()],
  ['PendingList', () => new PendingList()],
])('%s', (_, make: () => PendingTasks) => {
  it('gives out what is due, by due time, then by arrival', () => {
    const pending = make()
    pending.add(0, 200, 4)
    pending.add(1, 100, 3)
    pending.add(2, 100, 1)
    pending.add(3, 300, 2)
    expect(pending.earliest).toBe(100)
    expect(pending.takeDue(99)).toBe(-1)
    expect([pending.takeDue(200), pending.takeDue(200), pending.takeDue(200), pending.takeDue(200)]).toEqual([
      2, 1, 0, -1,
    ])
    expect(pending.size).toBe(1)
  })

  it('has no earliest time when it is empty', () => {
    const pending = make()
    expect(pending.earliest).toBe(Infinity)
    expect(pending.takeDue(Infinity)).toBe(-1)
  })

  it('gives up any task, once', () => {
    const pending = make()
    for (let place = 0; place < 100; place++) pending.add(place, place % 7, place)
    expect(pending.remove(50)).toBe(true)
    expect(pending.remove(50)).toBe(false)
    expect(pending.remove(1_000)).toBe(false)
    const rest = Array.from({ length: 99 }, () => pending.takeDue(Infinity))
    expect(rest).toHaveLength(new Set(rest).size)
    expect(rest).not.toContain(50)
  })
})

describe('list and heap', () => {
  const step = fc.oneof(
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('add' as const), due: fc.integer({ min: 0, max: 40 }) }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), due: fc.nat(200) }) },
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant('take' as const), due: fc.integer({ min: 0, max: 40 }) }),
    },
  )

  it('are the same in all that can be seen of them', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const list = new PendingList()
        const heap = new PendingHeap()
        const free: number[] = []
        let places = 0
        let arrival = 0
        for (const { kind, due } of steps) {
          let answers: unknown[] = []
          if (kind === 'add') {
            // places are used again, arrivals never
            const place = free.pop() ?? places++
            arrival++
            list.add(place, due, arrival)
            heap.add(place, due, arrival)
          } else if (kind === 'remove') {
            answers = [list.remove(due), heap.remove(due)]
            if (answers[0] === true) free.push(due)
          } else {
            const place = list.takeDue(due)
            answers = [place, heap.takeDue(due)]
            if (place >= 0) free.push(place)
          }
          expect(answers[1]).toBe(answers[0])
          expect(heap.earliest).toBe(list.earliest)
          expect(heap.size).toBe(list.size)
        }
      }),
    )
  })
})
