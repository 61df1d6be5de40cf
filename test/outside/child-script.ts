import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

/** How a program ended. */
export interface EndedProgram {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
  /** From its last line on stdout to its end. */
  readonly afterLastLineMs: number
}

/** A program under way; awaited, how it ended. */
export interface RunningProgram extends Promise<EndedProgram> {
  /** Resolves when it has printed that. */
  said(text: string): Promise<void>
}

/** Runs a module that may use `createClient` of the built package. */
export function runScript(body: string): RunningProgram {
  const script = `import { createClient } from 'punctual'\n${body}`
  return runProgram(['--input-type=module', '--eval', script])
}

/** Runs the built command. */
export function runPunctual(
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: Readonly<Record<string, string>> } = {},
): RunningProgram {
  return runProgram(['dist/cli/main.js', ...args], stdin, env)
}

function runProgram(
  args: readonly string[],
  stdin = '',
  env: Readonly<Record<string, string>> = {},
): RunningProgram {
  const child = spawn(process.execPath, args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const output = { stdout: '', stderr: '' }
  let lastLine = performance.now()
  child.stdout.on('data', (chunk: Buffer) => {
    output.stdout += chunk.toString()
    lastLine = performance.now()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.stderr += chunk.toString()
  })
  child.stdin.end(stdin)
  const ended = once(child, 'close').then(([code]) => ({
    code: code as number | null,
    ...output,
    afterLastLineMs: performance.now() - lastLine,
  }))
  const said = async (text: string): Promise<void> => {
    while (!output.stdout.includes(text)) {
      if (child.exitCode !== null) throw new Error(`it ended without saying '${text}':\n${output.stderr}`)
      await sleep(20)
    }
  }
  return Object.assign(ended, { said })
}

/** Asks again and again until it is so. */
export async function within(limitMs: number, isSo: () => Promise<boolean>): Promise<void> {
  const since = performance.now()
  while (!(await isSo())) {
    if (performance.now() - since > limitMs) throw new Error(`not so within ${limitMs} ms`)
    await sleep(50)
  }
}
