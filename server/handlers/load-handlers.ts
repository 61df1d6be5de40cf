import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { defineHandler, type Handler, isDefined } from './define-handler.js'
import { definitionFault } from './handler-rules.js'

/** Handlers by name. A Map: no name reaches the prototype of an object, and none is ever used as a path. */
export type LoadedHandlers = ReadonlyMap<string, Handler>

/** A handlers module that cannot be used; the message says which, what is wrong and what would be right. */
export class HandlerModuleError extends Error {
  override readonly name = 'HandlerModuleError'
}

const SHAPE = `export const handlers = [defineHandler({ name: '...', run(input, context) { ... } })]`

/**
 * Loads the handlers of an operator's modules.
 *
 * @param modules - Paths (relative ones from `from`) or file URLs of ES modules that export `handlers`, or export by default, a list or record of handlers.
 * @param from - A folder; default: the current one.
 * @throws {@link HandlerModuleError}
 * @example const handlers = await loadHandlers(['./handlers.js'])
 */
export async function loadHandlers(
  modules: readonly (string | URL)[],
  from: string = process.cwd(),
): Promise<LoadedHandlers> {
  const loaded = new Map<string, Handler>()
  const origin = new Map<string, string>()
  for (const module of modules) {
    const url = moduleUrl(module, from)
    for (const [place, candidate] of await exportedHandlers(url)) {
      // Plain objects of an author who writes JavaScript, or handlers made by another copy of the package.
      const wrong = isDefined(candidate) ? undefined : definitionFault(candidate)
      if (wrong !== undefined) throw new HandlerModuleError(`${place} in ${shown(url)}: ${wrong}`)
      const handler = isDefined(candidate) ? candidate : defineHandler(candidate as Handler)
      const other = origin.get(handler.name)
      if (other !== undefined)
        throw new HandlerModuleError(
          `the handler name '${handler.name}' is taken twice: by ${other} and by ${place} in ${shown(url)}; give one another name`,
        )
      origin.set(handler.name, `${place} in ${shown(url)}`)
      loaded.set(handler.name, handler)
    }
  }
  return loaded
}

/**
 * Where a module is, as a file URL.
 *
 * @throws {@link HandlerModuleError} when it is a URL of another kind.
 */
export function moduleUrl(module: string | URL, from: string = process.cwd()): URL {
  if (module instanceof URL || /^[a-z][a-z0-9+.-]+:/i.test(module)) {
    const url = new URL(module)
    if (url.protocol === 'file:') return url
    throw new HandlerModuleError(
      `${url.protocol} is not a place for handlers: give a path or a file: URL, not ${String(module).slice(0, 200)}`,
    )
  }
  return pathToFileURL(resolve(from, module))
}

async function exportedHandlers(url: URL): Promise<(readonly [place: string, candidate: unknown])[]> {
  const exports = await importModule(url)
  const [name, found] =
    exports.handlers === undefined
      ? (['the default export', interop(exports.default)] as const)
      : (['handlers', exports.handlers] as const)
  if (found === undefined)
    throw new HandlerModuleError(
      `${shown(url)} exports no handlers (it exports ${Object.keys(exports).join(', ') || 'nothing'}); write: ${SHAPE}`,
    )
  const members = membersOf(found)
  if (members === undefined)
    throw new HandlerModuleError(
      `${name} in ${shown(url)} must be a list or record of handlers; write: ${SHAPE}`,
    )
  if (members.length === 0) throw new HandlerModuleError(`${name} in ${shown(url)} is empty; write: ${SHAPE}`)
  return members.map(([key, candidate]) => [`${name}${key}`, candidate])
}

async function importModule(url: URL): Promise<Readonly<Record<string, unknown>>> {
  const file = await stat(fileURLToPath(url)).catch(() => undefined)
  if (file === undefined) throw new HandlerModuleError(`there is no handlers module ${shown(url)}`)
  if (file.isDirectory())
    throw new HandlerModuleError(
      `${shown(url)} is a folder; give the handlers module in it, such as index.js`,
    )
  try {
    return (await import(url.href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    const typeScript = /\.[mc]?ts$/.test(url.pathname) && why.includes('.ts')
    throw new HandlerModuleError(
      `the handlers module ${shown(url)} cannot be loaded: ${why}` +
        (typeScript
          ? '; compile it to JavaScript, or start the server with a loader, such as NODE_OPTIONS="--import tsx"'
          : ''),
      { cause: error },
    )
  }
}

// `module.exports = { handlers }` of a CommonJS module arrives as the default export.
function interop(exported: unknown): unknown {
  if (typeof exported !== 'object' || exported === null || Array.isArray(exported)) return exported
  const inner: unknown = Reflect.get(exported, 'handlers')
  return typeof inner === 'object' && inner !== null && !('run' in inner) ? inner : exported
}

function membersOf(found: unknown): (readonly [key: string, candidate: unknown])[] | undefined {
  if (Array.isArray(found)) return found.map((candidate: unknown, index) => [`[${index}]`, candidate])
  if (typeof found !== 'object' || found === null) return undefined
  // one handler by itself is a likely slip: a record would make its name, lane and run into handlers
  if (typeof Reflect.get(found, 'run') === 'function') return undefined
  return Object.entries(found).map(([key, candidate]) => [`.${key}`, candidate as unknown])
}

function shown(url: URL): string {
  return fileURLToPath(url)
}
