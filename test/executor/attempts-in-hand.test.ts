import { describe, expect, it } from 'vitest'
import { AttemptLedger } from '../../server/executor/attempt-ledger.js'
import { AttemptsInHand } from '../../server/executor/attempts-in-hand.js'
import { readBurst, type ThreadAttempt } from '../../server/executor/burst-message.js'
import { News } from '../../server/executor/news.js'
import { attemptRequest } from './attempt-request.js'

const DIED = { ending: { code: 'WORKER_EXITED', message: 'it exited' }, why: 'itself' } as const

/** A thread that does nothing by itself: the test begins and ends its attempts. */
function thread(rows = 8) {
  const ledger = new AttemptLedger(AttemptLedger.memoryFor(rows))
  const inHand = new AttemptsInHand(ledger, 'thread-1', rows, true)
  const given = new Map<number, ThreadAttempt>()
  return {
    inHand,
    give: (...startIds: number[]): void => {
      const message = inHand.add(startIds.map((startId) => attemptRequest(startId, 'echo', startId)))
      for (const attempt of readBurst(message)) given.set(attempt.startId, attempt)
    },
    begin: (startId: number): boolean => {
      const attempt = given.get(startId)
      return attempt !== undefined && ledger.begin(attempt.row, attempt.generation, startId * 100)
    },
    end: (startId: number): void => {
      ledger.endHere(given.get(startId)?.row ?? 0, startId * 100 + 50, String(startId))
    },
    endByMessage: (startId: number): void => {
      ledger.endByMessage(given.get(startId)?.row ?? 0, startId * 100 + 50)
    },
    stop: (startId: number) => ledger.requestStop(given.get(startId)?.row ?? 0, 'cancelled'),
    look: (): News => {
      const news = new News()
      inHand.look(news)
      return news
    },
    die: (): News => {
      const news = new News()
      inHand.die(DIED, 9_999, news)
      return news
    },
  }
}

const ids = (things: readonly { startId: number }[]) => things.map(({ startId }) => startId)

describe('attempts in hand', () => {
  it('are told of as begun once, and as ended with their output and times', () => {
    const { give, begin, end, look } = thread()
    give(1, 2)
    begin(1)
    expect(look()).toMatchObject({
      began: [{ startId: 1, startTimeUs: 100, workerId: 'thread-1' }],
      ended: [],
    })
    expect(look().began).toEqual([])
    end(1)
    begin(2)
    end(2)
    const news = look()
    expect(ids(news.began)).toEqual([2])
    expect(news.ended).toEqual([
      { startId: 1, outcome: succeeded(1), startTimeUs: 100, endTimeUs: 150, workerId: 'thread-1' },
      { startId: 2, outcome: succeeded(2), startTimeUs: 200, endTimeUs: 250, workerId: 'thread-1' },
    ])
  })

  it('whose outcome came by message end only when the thread has let go of their row', () => {
    const { inHand, give, begin, endByMessage, look } = thread()
    give(1)
    begin(1)
    const attempt = inHand.get(1)
    if (attempt === undefined) throw new Error('it is in hand')
    attempt.outcome = succeeded(1)
    expect(look().ended).toEqual([])
    endByMessage(1)
    expect(look().ended).toMatchObject([{ startId: 1, outcome: succeeded(1) }])
  })

  it('can be far more, one after another, than there are rows', () => {
    const { inHand, give, begin, end, look } = thread(2)
    for (let startId = 1; startId < 100; startId++) {
      give(startId)
      expect(begin(startId)).toBe(true)
      end(startId)
      expect(ids(look().ended)).toEqual([startId])
    }
    expect(inHand.size).toBe(0)
    expect(() => give(101, 102, 103)).toThrow('no room')
  })
})

describe('when their thread dies', () => {
  it('those that ended keep their outcome, the running one has failed, the others go back', () => {
    const { give, begin, end, die } = thread()
    give(1, 2, 3)
    begin(1)
    end(1)
    begin(2)
    const news = die()
    expect(news.ended).toMatchObject([
      { startId: 1, outcome: succeeded(1), endTimeUs: 150 },
      {
        startId: 2,
        outcome: { kind: 'failed', error: { code: 'WORKER_EXITED' } },
        startTimeUs: 200,
        endTimeUs: 9_999,
      },
    ])
    expect(ids(news.began)).toEqual([1, 2])
    expect(news.returned).toEqual([3])
  })

  it('one that was told to stop is cancelled, whatever the thread died of', () => {
    const { inHand, give, begin, stop, die } = thread()
    give(1)
    begin(1)
    stop(1)
    const attempt = inHand.get(1)
    if (attempt !== undefined) attempt.stop = 'cancelled'
    expect(die().ended).toMatchObject([{ outcome: { kind: 'cancelled', stage: 'terminated' } }])
  })

  it('one whose outcome had come by message keeps it', () => {
    const { inHand, give, begin, die } = thread()
    give(1)
    begin(1)
    const attempt = inHand.get(1)
    if (attempt !== undefined) attempt.outcome = succeeded(1)
    expect(die().ended).toMatchObject([{ outcome: succeeded(1) }])
  })

  it('one that lingered is released, and has no second outcome', () => {
    const { inHand, give, begin, die } = thread()
    give(1)
    begin(1)
    const attempt = inHand.get(1)
    const news = new News()
    if (attempt !== undefined)
      inHand.giveUp(attempt, { kind: 'cancelled', stage: 'terminated' }, 5, 500, news)
    expect(news.ended).toMatchObject([{ startId: 1, lingering: true }])
    expect(die()).toMatchObject({ ended: [], released: [1] })
  })
})

function succeeded(output: unknown) {
  return { kind: 'succeeded', output: { kind: 'json', text: JSON.stringify(output) } } as const
}
