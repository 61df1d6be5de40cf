import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Jobs } from '../callers/jobs.js'

type JobName = keyof Jobs
type Given<Name extends JobName> = Parameters<Jobs[Name]>[0]
type Told<Name extends JobName> = Awaited<ReturnType<Jobs[Name]>>

/** What goes to a caller. */
export interface JobOrder {
  readonly name: JobName
  readonly given: unknown
}

/** What comes back. */
export type JobReport = { readonly told: unknown } | { readonly error: string }

/** A process that calls: whatever the bench asks of a server is done, and its CPU measured, in one of these. */
export class CallerProcess implements AsyncDisposable {
  readonly #process: ChildProcess

  private constructor(started: ChildProcess) {
    this.#process = started
  }

  /** @param nodeArgs - Of Node itself: for profiles. */
  static async start(nodeArgs: readonly string[] = []): Promise<CallerProcess> {
    const started = fork(fileURLToPath(new URL('../callers/caller.ts', import.meta.url)), {
      execArgv: ['--import', 'tsx', ...nodeArgs],
      serialization: 'advanced',
    })
    await once(started, 'message')
    return new CallerProcess(started)
  }

  get pid(): number {
    return this.#process.pid ?? 0
  }

  /** Does one job. @throws Error with what went wrong there. */
  async run<Name extends JobName>(name: Name, given: Given<Name>): Promise<Told<Name>> {
    const report = new Promise<JobReport>((resolve, reject) => {
      const ended = (code: number | null): void =>
        reject(new Error(`the caller ended with ${code} during ${name}`))
      this.#process.once('exit', ended)
      this.#process.once('message', (message) => {
        this.#process.off('exit', ended)
        resolve(message as JobReport)
      })
    })
    this.#process.send({ name, given } satisfies JobOrder)
    const answer = await report
    if ('error' in answer) throw new Error(`${name}: ${answer.error}`)
    return answer.told as Told<Name>
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return
    const ended = once(this.#process, 'exit')
    this.#process.disconnect()
    await ended
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }
}
