import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file that a worker thread runs, and what Node needs to run it. */
export interface WorkerEntry {
  readonly filename: string
  readonly execArgv?: string[]
}

/**
 * Built: worker.js. From the sources, as specifications run: worker.ts. That, and handlers in TypeScript, a thread loads with the
 * help of tsx where there is one: Node 20 cannot read TypeScript, later ones do not find "./x.js" written as x.ts.
 *
 * @param modules - The handlers modules that the thread will load.
 */
export function workerEntry(modules: readonly string[]): WorkerEntry {
  const built = new URL('./worker.js', import.meta.url)
  const isBuilt = existsSync(fileURLToPath(built))
  const filename = isBuilt ? built.href : new URL('./worker.ts', import.meta.url).href
  if (isBuilt && !modules.some(isTypeScript)) return { filename }
  const loader = typeScriptLoader()
  // without tsx the thread says that it cannot load the module
  return loader === undefined ? { filename } : { filename, execArgv: ['--import', loader] }
}

const isTypeScript = (module: string): boolean => /\.[mc]?ts$/.test(module)

/** What a thread has to import to load TypeScript. `--import tsx` loads no ES modules in a worker thread: it looks for the main thread. */
export function typeScriptLoader(): string | undefined {
  try {
    const api = import.meta.resolve('tsx/esm/api')
    return `data:text/javascript,${encodeURIComponent(`import { register } from ${JSON.stringify(api)}; register()`)}`
  } catch {
    return undefined
  }
}
