import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AttemptLedger, ROW_STATE } from '../../server/executor/attempt-ledger.js'

/** The two sides of one memory. */
function ledgers() {
  const main = new AttemptLedger(AttemptLedger.memoryFor(4))
  return { main, worker: new AttemptLedger(main.memory) }
}

describe('an attempt in the ledger', () => {
  it('belongs to who takes it first: begun is not withdrawn, withdrawn is not begun', () => {
    const { main, worker } = ledgers()
    const begun = main.arm(1)
    const withdrawn = main.arm(2)
    expect(worker.begin(1, begun, 123)).toBe(true)
    expect(main.withdraw(1, begun)).toBe(false)
    expect(main.withdraw(2, withdrawn)).toBe(true)
    expect(worker.begin(2, withdrawn, 123)).toBe(false)
  })

  it('that was withdrawn does not begin in the place of the next in its row', () => {
    const { main, worker } = ledgers()
    const first = main.arm(1)
    main.withdraw(1, first)
    const second = main.arm(1)
    expect(worker.begin(1, first, 1)).toBe(false)
    expect(main.state(1)).toBe(ROW_STATE.waiting)
    expect(worker.begin(1, second, 2)).toBe(true)
  })

  it('keeps its times and its output, also after the other thread is gone', () => {
    const { main, worker } = ledgers()
    worker.begin(1, main.arm(1), 1_796_096_316_193_001)
    expect(worker.endHere(1, 1_796_096_316_193_002, '{"grüße":"👋"}')).toBe(true)
    expect(main.state(1)).toBe(ROW_STATE.ended)
    expect(main.startTimeUs(1)).toBe(1_796_096_316_193_001)
    expect(main.endTimeUs(1)).toBe(1_796_096_316_193_002)
    expect(main.output(1)).toBe('{"grüße":"👋"}')
  })

  it('says when its output does not fit, and writes over no neighbour', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        const { main, worker } = ledgers()
        for (const row of [1, 2, 3]) worker.begin(row, main.arm(row), row)
        worker.endHere(1, 1, '"one"')
        worker.endHere(3, 3, '"three"')
        const fits = Buffer.byteLength(text) <= 232
        expect(worker.endHere(2, 2, text)).toBe(fits)
        expect(main.state(2)).toBe(fits ? ROW_STATE.ended : ROW_STATE.running)
        expect(fits ? main.output(2) : text).toBe(text)
        expect([main.output(1), main.output(3), main.startTimeUs(3)]).toEqual(['"one"', '"three"', 3])
      }),
    )
  })

  it('can have no output', () => {
    const { main, worker } = ledgers()
    worker.begin(1, main.arm(1), 1)
    worker.endHere(1, 2, undefined)
    expect(main.output(1)).toBe(undefined)
  })

  it('is told to stop while it runs, for one reason, and not after its end', () => {
    const { main, worker } = ledgers()
    const generation = main.arm(1)
    expect(main.requestStop(1, 'cancelled')).toBe(false)
    worker.begin(1, generation, 1)
    expect(main.requestStop(1, 'timedOut')).toBe(true)
    expect(main.requestStop(1, 'cancelled')).toBe(true)
    expect(worker.stopReason(1)).toBe('timedOut')
    worker.endByMessage(1, 2)
    expect(main.state(1)).toBe(ROW_STATE.endedByMessage)
    expect(main.requestStop(1, 'cancelled')).toBe(false)
    main.arm(1)
    expect(main.stopReason(1)).toBe(undefined)
  })

  it('has a number of its own, however often its row was used before', () => {
    const { main, worker } = ledgers()
    let last = main.arm(1)
    for (let use = 0; use < 10_000; use++) {
      const next = main.arm(1)
      expect(next).not.toBe(last)
      last = next
    }
    expect(worker.begin(1, last, 1)).toBe(true)
  })
})

describe('the thread in the ledger', () => {
  it('asks for one look at a time', () => {
    const { main, worker } = ledgers()
    expect(worker.askForLook()).toBe(true)
    expect(worker.askForLook()).toBe(false)
    main.lookBegins()
    expect(worker.askForLook()).toBe(true)
  })

  it('shows that it lives, in which handler it is, and who ended it', () => {
    const { main, worker } = ledgers()
    const before = main.heartbeat
    worker.beat()
    worker.inCall = 3
    worker.exitedBy = -1
    expect([main.heartbeat, main.inCall, main.exitedBy]).toEqual([before + 1, 3, -1])
  })
})
