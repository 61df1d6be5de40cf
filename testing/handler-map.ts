import { type Handler, type HandlerSet } from '../server/handlers/index.js'
import { HandlerModuleError, type LoadedHandlers } from '../server/handlers/load-handlers.js'

/**
 * Handlers by their names, as a server that has loaded them keeps them.
 *
 * @throws {@link HandlerModuleError} when two have the same name.
 */
export function handlerMap(handlers: HandlerSet): LoadedHandlers {
  const loaded = new Map<string, Handler>()
  for (const handler of Array.isArray(handlers)
    ? (handlers as readonly Handler[])
    : Object.values(handlers)) {
    if (loaded.has(handler.name)) {
      throw new HandlerModuleError(`the handler name '${handler.name}' is taken twice; give one another name`)
    }
    loaded.set(handler.name, handler)
  }
  return loaded
}
