import { afterEach, beforeEach, describe } from 'vitest'
import { consumersContract } from './contract/consumers.js'
import { logContract } from './contract/log.js'
import { findingContract } from './contract/finding.js'
import { insertContract } from './contract/insert.js'
import { retentionContract } from './contract/retention.js'
import { restartContract } from './contract/restart.js'
import { statsContract } from './contract/stats.js'
import { updateContract } from './contract/update.js'
import { windowContract } from './contract/window.js'
import { type StoreKind, StoreWorld } from './store-world.js'

/** What every store promises: the comments of `TaskStore`, line by line. */
export function storeContract(kind: StoreKind): void {
  describe(`a store (${kind.name})`, () => {
    let world: StoreWorld
    const current = (): StoreWorld => world
    beforeEach(async () => {
      world = await StoreWorld.make(kind)
    })
    afterEach(() => world.end())
    insertContract(current)
    updateContract(current)
    windowContract(current)
    findingContract(current)
    logContract(current)
    consumersContract(current, kind)
    statsContract(current)
    retentionContract(current, kind)
    restartContract(current, kind)
  })
}
