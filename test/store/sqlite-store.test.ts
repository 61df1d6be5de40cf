import { inFolder, inMemory } from './sqlite-worlds.js'
import { storeContract } from './store-contract.js'

storeContract(inMemory)
storeContract(inFolder('inline'))
