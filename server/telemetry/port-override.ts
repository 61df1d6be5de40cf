/**
 * A port with some of its methods replaced; the others are its own. Spans and metrics wrap a port this way, so that they need not know what it will
 * promise next year.
 *
 * @example const traced = override(store, { insert: (requests) => inSpan('insert', () => store.insert(requests)) })
 */
export function override<T extends object>(port: T, methods: Partial<T>): T {
  const overridden: object = {}
  for (const key of keysOf(port)) {
    const value: unknown = Reflect.get(port, key)
    // bound once, not at each call: the clock alone is asked several times for each task
    if (typeof value === 'function')
      Object.defineProperty(overridden, key, { value: value.bind(port), configurable: true })
    else
      Object.defineProperty(overridden, key, {
        get: (): unknown => Reflect.get(port, key),
        configurable: true,
      })
  }
  for (const [key, value] of Object.entries(methods)) Object.defineProperty(overridden, key, { value })
  return overridden as T
}

/** Everything that a port has, of its own or by its class. */
function keysOf(port: object): ReadonlySet<PropertyKey> {
  const keys = new Set<PropertyKey>()
  for (let from = port; from !== Object.prototype; from = Object.getPrototypeOf(from) as object)
    for (const key of Reflect.ownKeys(from)) if (key !== 'constructor') keys.add(key)
  return keys
}
