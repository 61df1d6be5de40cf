import { describe, expect, it } from 'vitest'
import type { Slices } from '../../server/clock/slices.js'
import { hurried, unhurried } from './some-slices.js'

/** Does so many pieces; tells of each pause. */
async function work(slices: Slices, pieces: number, onPause: () => void): Promise<void> {
  for (let i = 0; i < pieces; i++) {
    const pause = slices.next()
    if (!pause) continue
    onPause()
    await pause
  }
}

describe('work in slices', () => {
  it('that is not long does not pause', async () => {
    let pauses = 0
    await work(unhurried(), 10_000, () => pauses++)
    expect(pauses).toBe(0)
  })

  it('does not pause before it has looked at the clock twice, however long that took', async () => {
    let pauses = 0
    await work(hurried(), 32, () => pauses++)
    expect(pauses).toBe(0)
  })

  it('gives others their turn at each pause', async () => {
    let others = 0
    const other = (): void => {
      others++
      setImmediate(other)
    }
    const turns = setImmediate(other)
    const seen: number[] = []
    await work(hurried(), 160, () => seen.push(others))
    clearImmediate(turns)
    expect(seen).toHaveLength(4)
    expect(seen.every((turn, i) => i === 0 || turn > (seen[i - 1] ?? 0))).toBe(true)
  })

  it('takes turns with other work: one slice of all for each turn of the event loop', async () => {
    const events: string[] = []
    let turn = 0
    const turns = (): void => {
      turn++
      if (events.length < 6) setImmediate(turns)
    }
    setImmediate(turns)
    await Promise.all(['a', 'b'].map((name) => work(hurried(), 128, () => events.push(`${name} ${turn}`))))
    const resumed = events.slice(2)
    expect(resumed.map((event) => event[0])).toEqual(['a', 'b', 'a', 'b'])
    expect(new Set(resumed.map((event) => event.slice(2))).size).toBe(4)
  })
})
