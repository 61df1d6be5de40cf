/**
 * A port with some of its methods replaced; the others are its own. Spans and metrics wrap a port this way, so that they need not know what it will
 * promise next year.
 *
 * @example const traced = override(store, { insert: (requests) => inSpan('insert', () => store.insert(requests)) })
 */
export function override<T extends object>(port: T, methods: Partial<T>): T {
  const bound = new Map<PropertyKey, unknown>(Object.entries(methods))
  return new Proxy(port, {
    get(target, key) {
      const known = bound.get(key)
      if (known !== undefined) return known
      const value: unknown = Reflect.get(target, key, target)
      if (typeof value !== 'function') return value
      const method: unknown = value.bind(target)
      bound.set(key, method)
      return method
    },
  })
}
