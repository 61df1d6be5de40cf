import type { TaskStore } from '../store/task-store.js'
import { override } from '../telemetry/port-override.js'
import type { StoreCalls } from '../watchdog/store-calls.js'

/** A store of which the watchdog knows how its writes fare. */
export function watchedStore(store: TaskStore, calls: StoreCalls): TaskStore {
  return override(store, {
    insert: (requests) => calls.watch(() => store.insert(requests)),
    start: (starts) => calls.watch(() => store.start(starts)),
    update: (transitions) => calls.watch(() => store.update(transitions)),
    reserveStartIds: (count) => calls.watch(() => store.reserveStartIds(count)),
  })
}
