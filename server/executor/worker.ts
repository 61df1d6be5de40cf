import type { MessagePort } from 'node:worker_threads'
import { systemClock } from '../clock.js'
import { loadHandlers } from '../handlers/load-handlers.js'
import { AttemptLedger } from './attempt-ledger.js'
import type { Instrument, ThreadInstrumentation } from './instrument.js'
import { hearStrayErrors } from './stray-errors.js'
import { noteExits } from './thread-exit.js'
import { catchOutput } from './thread-output.js'
import type { ThreadSettings, ToThread } from './thread-protocol.js'
import { ThreadWork } from './thread-work.js'

/** How often a shared thread at work shows that its event loop turns. */
const HEARTBEAT_MS = 500

/** What a thread is started with. */
export interface SessionStart {
  readonly port: MessagePort
  readonly ledger: SharedArrayBuffer
  readonly settings: ThreadSettings
}

/**
 * What a worker thread does from its start to its end, as the one task that piscina gives it: bursts of attempts come over a line of our own, which takes a
 * fifth of the time of one piscina task each. Rejects when the handlers cannot be loaded; never resolves.
 */
export async function runSession({ port, ledger: memory, settings }: SessionStart): Promise<never> {
  const { modules, maxOutputBytes, shared, instrumentation } = settings
  const ledger = new AttemptLedger(memory)
  // Here and not when the file is loaded: piscina loads a file that throws twice, and its pool never recovers.
  const handlers = await loadHandlers(modules)
  const work: ThreadWork = new ThreadWork({
    port,
    ledger,
    handlers,
    clock: systemClock,
    maxOutputBytes,
    instrumentation: await loadInstrumentation(instrumentation, (spans) => work.sendSpans(spans)),
  })
  hearStrayErrors(work)
  noteExits(work, ledger)
  catchOutput(work)
  const pulse = shared ? new Pulse(work, ledger) : undefined
  port.on('message', (message: ToThread) => {
    pulse?.beat()
    work.receive(message)
  })
  work.send({ kind: 'hello' })
  return new Promise<never>(() => {})
}

async function loadInstrumentation(
  module: string,
  sendSpans: Parameters<Instrument>[0],
): Promise<ThreadInstrumentation | undefined> {
  if (module === '') return undefined
  const { instrument } = (await import(module)) as { readonly instrument: Instrument }
  return instrument(sendSpans)
}

/** Shows that the event loop turns, while handlers are waited for: an idle thread sleeps. */
class Pulse {
  readonly #work: ThreadWork
  readonly #ledger: AttemptLedger
  #isBeating = false

  constructor(work: ThreadWork, ledger: AttemptLedger) {
    this.#work = work
    this.#ledger = ledger
  }

  /** At once, and from then on as long as there is work. */
  beat(): void {
    this.#ledger.beat()
    if (this.#isBeating) return
    this.#isBeating = true
    systemClock.setTimer(HEARTBEAT_MS, () => {
      this.#isBeating = false
      if (this.#work.isBusy) this.beat()
    })
  }
}
