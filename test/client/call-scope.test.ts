import { describe, expect, it } from 'vitest'
import { CallScopes } from '../../client/call-scope.js'
import { CallAbortedError } from '../../client/errors.js'
import { Gate } from '../../client/gate.js'
import { RecentResults } from '../../client/recent-results.js'
import { countedSignal } from '../support/client-of.js'
import { resultMessage } from '../support/messages.js'

describe('a call scope', () => {
  it('cancels the step under way, and refuses later ones', async () => {
    const scopes = new CallScopes()
    const scope = scopes.open(undefined)
    let cancelled = 0
    const step = scope.step(() => () => {
      cancelled++
    })
    const reason = new Error('enough')
    scope.end(reason)
    scope.end(new Error('again'))
    await expect(step).rejects.toBe(reason)
    await expect(scope.step(() => () => {})).rejects.toBe(reason)
    expect(cancelled).toBe(1)
  })

  it('does not cancel a step that is done', async () => {
    const scope = new CallScopes().open(undefined)
    let cancelled = 0
    await scope.step<void>((resolve) => {
      resolve()
      return () => {
        cancelled++
      }
    })
    scope.end(new Error('enough'))
    expect(cancelled).toBe(0)
  })

  it('shares one listener among the calls of a signal, whatever their number', () => {
    const scopes = new CallScopes()
    const { controller, signal, listeners } = countedSignal()
    const open = Array.from({ length: 50 }, () => scopes.open(signal))
    expect(listeners()).toBe(1)
    open.slice(1).forEach((scope) => scope.leave())
    expect(listeners()).toBe(1)
    controller.abort()
    expect(() => open[0]?.throwIfEnded()).toThrow(CallAbortedError)
    expect(() => open[1]?.throwIfEnded()).not.toThrow()
    open[0]?.leave()
    expect(listeners()).toBe(0)
    expect(scopes.size).toBe(0)
  })

  it('of all calls can be ended at once, and none is opened after', () => {
    const scopes = new CallScopes()
    const scope = scopes.open(undefined)
    const reason = new Error('closed')
    let idle = false
    scopes.endAll(reason)
    scopes.whenIdle(() => {
      idle = true
    })
    expect(() => scope.throwIfEnded()).toThrow(reason)
    expect(() => scopes.open(undefined)).toThrow(reason)
    expect(idle).toBe(false)
    scope.leave()
    expect(idle).toBe(true)
  })
})

describe('a gate', () => {
  it('lets only so many through at once, in order, also after failures', async () => {
    const gate = new Gate(2)
    const started: number[] = []
    const ends: (() => void)[] = []
    const runs = [0, 1, 2, 3].map((n) =>
      gate.run(async () => {
        started.push(n)
        await new Promise<void>((resolve) => ends.push(resolve))
        if (n === 0) throw new Error('failed')
      }),
    )
    const settled = Promise.allSettled(runs)
    expect(started).toEqual([0, 1])
    ends[0]?.()
    await expect(runs[0]).rejects.toThrow('failed')
    expect(started).toEqual([0, 1, 2])
    ends[1]?.()
    await runs[1]
    expect(started).toEqual([0, 1, 2, 3])
    ends[2]?.()
    ends[3]?.()
    await settled
  })
})

describe('recent results', () => {
  it('hold the newest of each task', () => {
    const recent = new RecentResults()
    recent.add(1, resultMessage('a', { run: 1n }))
    recent.add(2, resultMessage('a', { run: 2n }))
    expect(recent.get('a')?.run).toBe(2n)
    expect(recent.forgotten).toBe(0)
  })

  it('let the oldest go beyond 4,096, and tell up to where', () => {
    const recent = new RecentResults()
    for (let index = 1; index <= 4_100; index++) recent.add(index, resultMessage(`${index}`))
    expect(recent.forgotten).toBe(4)
    expect(recent.get('4')).toBeUndefined()
    expect(recent.get('5')).toBeDefined()
  })

  it('let the oldest go beyond 4 MiB', () => {
    const recent = new RecentResults()
    const value = JSON.stringify('x'.repeat(1024 * 1024))
    for (let index = 1; index <= 5; index++) {
      recent.add(index, resultMessage(`${index}`, { payload: { $case: 'outputJson', value } }))
    }
    expect(recent.forgotten).toBe(2)
  })
})
