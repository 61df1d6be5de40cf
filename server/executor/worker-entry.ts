import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** The file that a worker thread runs, and what Node needs to run it. */
export interface WorkerEntry {
  readonly filename: string
  readonly execArgv?: string[]
}

/** Built: worker.js. From the sources, as specifications run: worker.ts, which a thread can only load with the help of tsx. */
export function workerEntry(): WorkerEntry {
  const built = new URL('./worker.js', import.meta.url)
  if (existsSync(fileURLToPath(built))) return { filename: built.href }
  return {
    filename: new URL('./worker.ts', import.meta.url).href,
    execArgv: ['--import', typeScriptLoader()],
  }
}

/** `--import tsx` loads no ES modules in a worker thread: it looks for the main thread. */
function typeScriptLoader(): string {
  const api = import.meta.resolve('tsx/esm/api')
  return `data:text/javascript,${encodeURIComponent(`import { register } from ${JSON.stringify(api)}; register()`)}`
}
