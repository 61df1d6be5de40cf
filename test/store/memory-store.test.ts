import { immediateClock } from '../support/immediate-clock.js'
import { MemoryDisk } from '../support/memory-disk.js'
import { MemoryStore } from '../support/memory-store.js'
import { storeContract } from './store-contract.js'
import type { OpenStore, StoreKind } from './store-world.js'

const memory: StoreKind = {
  name: 'the one that stands in for it in tests of the scheduler',
  survives: ['restart'],
  make: async () => {
    const disk = new MemoryDisk()
    const open: OpenStore = (now) => new MemoryStore(immediateClock(now), { disk })
    return { open, remove: async () => {} }
  },
}

storeContract(memory)
