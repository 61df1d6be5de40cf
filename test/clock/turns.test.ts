import { describe, expect, it } from 'vitest'
import { Turns } from '../../server/clock/turns.js'

describe('turns', () => {
  it('are one for each turn of the event loop, first come, first served', async () => {
    const turns = new Turns()
    let loop = 0
    setImmediate(function counted() {
      loop += 1
      if (loop < 10) setImmediate(counted)
    })
    const seen: [name: string, loop: number][] = []
    await Promise.all(['a', 'b', 'c'].map((name) => turns.next().then(() => seen.push([name, loop]))))
    expect(seen.map(([name]) => name)).toEqual(['a', 'b', 'c'])
    expect(new Set(seen.map(([, turn]) => turn)).size).toBe(3)
  })

  it('go on for those who come later', async () => {
    const turns = new Turns()
    await turns.next()
    await turns.next()
    const seen: string[] = []
    await Promise.all([turns.next().then(() => seen.push('a')), turns.next().then(() => seen.push('b'))])
    expect(seen).toEqual(['a', 'b'])
  })
})

describe('work that takes turns', () => {
  it('begins at once when it is alone, also after other work has failed', async () => {
    const turns = new Turns()
    await expect(turns.take(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    let loop = 0
    setImmediate(() => (loop += 1))
    await turns.take(async () => {
      expect(loop).toBe(0)
    })
    expect(loop).toBe(0)
  })
})
