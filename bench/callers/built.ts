import { fileURLToPath } from 'node:url'
import type { ThreadExecutor } from '../../server/executor/thread-executor.js'
import type { encodeResult } from '../../server/rpc/result-codec.js'
import type { SqliteStore } from '../../server/store/sqlite/sqlite-store.js'

/** The parts of the built package that the bench also measures alone: their threads start from JavaScript, as they do for users. */
const from = (path: string): Promise<unknown> =>
  import(fileURLToPath(new URL(`../../dist/server/${path}`, import.meta.url)))

export const { SqliteStore: BuiltStore } = (await from('store/sqlite/sqlite-store.js')) as {
  readonly SqliteStore: typeof SqliteStore
}
export const { ThreadExecutor: BuiltExecutor } = (await from('executor/thread-executor.js')) as {
  readonly ThreadExecutor: typeof ThreadExecutor
}
export const { encodeResult: builtEncoder } = (await from('rpc/result-codec.js')) as {
  readonly encodeResult: typeof encodeResult
}

/** File URL of the handlers that a server without handlers of its own serves. */
export const BUILT_HANDLERS = new URL('../../dist/server/handlers/demo-handlers.js', import.meta.url).href
