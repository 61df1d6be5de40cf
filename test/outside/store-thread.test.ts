import { inFolder } from '../store/sqlite-worlds.js'
import { storeContract } from '../store/store-contract.js'
import { BuiltStore } from './built-store.js'

storeContract(inFolder('thread', BuiltStore))
