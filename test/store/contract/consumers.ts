import { describe, expect, it } from 'vitest'
import type { StoredConsumer } from '../../../server/store/task-store.js'
import type { StoreKind, StoreWorld } from '../store-world.js'
import { EVERYTHING, START } from '../stored-tasks.js'

const consumer = (name: string, given: Partial<StoredConsumer> = {}): StoredConsumer => ({
  name,
  position: 0,
  filter: EVERYTHING,
  lossy: false,
  createTime: START,
  activeTime: START,
  ...given,
})

export function consumersContract(world: () => StoreWorld, kind: StoreKind): void {
  const kept = (): Promise<readonly StoredConsumer[]> => world().store.consumers()

  describe('consumers', () => {
    it('are kept as they are given, by name', async () => {
      expect(await kept()).toEqual([])
      const filter = {
        taskIds: new Set(['a', 'b']),
        handlers: new Set(['h']),
        labels: { team: 'x' },
        outcomes: new Set(['failed', 'timedOut'] as const),
        origins: new Set(['o']),
        includeAttempts: false,
      }
      const given = [
        consumer('b', { position: 7, filter, lossy: true, activeTime: START + 5 }),
        consumer('a'),
        consumer('A', { filter: { ...filter, includeAttempts: true } }),
      ]
      for (const one of given) await world().store.keepConsumer(one)
      expect(await kept()).toEqual([given[2], given[1], given[0]])
    })

    it('are replaced by another of the same name', async () => {
      await world().store.keepConsumer(consumer('a', { position: 9, lossy: true }))
      await world().store.keepConsumer(consumer('a', { position: 3 }))
      expect(await kept()).toEqual([consumer('a', { position: 3 })])
    })

    it('move forward only, and only the one that is named', async () => {
      const { store } = world()
      await store.keepConsumer(consumer('a', { position: 5 }))
      await store.keepConsumer(consumer('b', { position: 5 }))
      await store.moveConsumer('a', 9, START + 10)
      await store.moveConsumer('a', 7, START + 5)
      await store.moveConsumer('nobody', 7, START)
      expect(await kept()).toEqual([
        consumer('a', { position: 9, activeTime: START + 10 }),
        consumer('b', { position: 5 }),
      ])
    })

    it('are forgotten when they shall be', async () => {
      const { store } = world()
      await store.keepConsumer(consumer('a'))
      await store.keepConsumer(consumer('b'))
      await store.forgetConsumer('a')
      await store.forgetConsumer('nobody')
      expect(await kept()).toEqual([consumer('b')])
    })

    it.each(kind.survives)('are there again after a %s', async (end) => {
      const { store } = world()
      await store.keepConsumer(consumer('a', { lossy: true }))
      await store.keepConsumer(consumer('b'))
      await store.moveConsumer('a', 4, START + 1)
      await store.forgetConsumer('b')
      await world()[end]()
      expect(await kept()).toEqual([consumer('a', { lossy: true, position: 4, activeTime: START + 1 })])
    })
  })
}
