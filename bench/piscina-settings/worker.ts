import type { MessagePort } from 'node:worker_threads'
import { AttemptLedger } from '../../server/executor/attempt-ledger.js'

/** One attempt, as little as there can be of it. */
export interface Attempt {
  readonly startId: number
  readonly taskId: string
  readonly handler: string
  readonly run: number
  readonly attempt: number
  readonly dueTime: number
  readonly text: string
}

/** Fields of an attempt in a flat list: its row in the shared memory, its generation there, and its own. */
export const FIELDS = 9

export interface Line {
  readonly port: MessagePort
  /** Outcomes are written there; undefined: they are sent. */
  readonly memory: SharedArrayBuffer | undefined
}

/** One piscina task for each burst. */
export function runBurst(burst: readonly Attempt[]): object[] {
  return burst.map(({ startId, text }) => ({
    startId,
    kind: 'succeeded',
    text: workOn(text),
    start: 1.5e15,
    end: 1.5e15,
  }))
}

/** One piscina task for the life of the thread; bursts come by a line of their own. */
export function runSession({ port, memory }: Line): Promise<never> {
  const ledger = memory && new AttemptLedger(memory)
  port.on('message', (message: readonly Attempt[] | readonly unknown[]) => {
    if (ledger === undefined) port.postMessage(runBurst(message as readonly Attempt[]))
    else runFlat(message, ledger, port)
  })
  return new Promise<never>(() => {})
}

function runFlat(message: readonly unknown[], ledger: AttemptLedger, port: MessagePort): void {
  for (let at = 0; at < message.length; at += FIELDS) {
    const row = message[at] as number
    ledger.begin(row, message[at + 1] as number, 1.5e15)
    ledger.endHere(row, 1.5e15, workOn(String(message[at + FIELDS - 1])))
  }
  port.postMessage(0)
}

let ticks = 0
/** How often a timer of 5 ms has fired in this thread: whether its event loop turns while it has no task. */
export function countTicks(): number {
  if (ticks === 0) setInterval(() => ticks++, 5)
  return ticks++
}

function workOn(text: string): string {
  return JSON.stringify(JSON.parse(text))
}
