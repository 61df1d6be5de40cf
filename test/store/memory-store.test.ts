import type { Clock } from '../../server/clock.js'
import { MemoryDisk } from '../support/memory-disk.js'
import { MemoryStore } from '../support/memory-store.js'
import { storeContract } from './store-contract.js'
import type { OpenStore, StoreKind } from './store-world.js'

/** Commits happen as soon as what is happening now is over. */
const clockOf = (now: () => number): Clock => ({
  now,
  nowMicros: () => now() * 1_000,
  steady: now,
  setTimer: (_, fn) => {
    queueMicrotask(fn)
    return { cancel() {} }
  },
  setAlarm: () => ({ cancel() {} }),
})

const memory: StoreKind = {
  name: 'the one that stands in for it in tests of the scheduler',
  survives: ['restart'],
  make: async () => {
    const disk = new MemoryDisk()
    const open: OpenStore = (now) => new MemoryStore(clockOf(now), { disk })
    return { open, remove: async () => {} }
  },
}

storeContract(memory)
