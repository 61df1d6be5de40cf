import { EventEmitter } from 'node:events'
import type { FromThread, ToThread } from '../../server/store/sqlite/thread-messages.js'

/** A thread whose every word the test says. */
export class FakeWorker extends EventEmitter {
  static readonly started: FakeWorker[] = []
  readonly asked: number[] = []
  readonly name: string

  constructor(_: unknown, { name }: { readonly name: string }) {
    super()
    this.name = name
    FakeWorker.started.push(this)
  }

  postMessage(message: ToThread): void {
    if (message.kind === 'do') this.asked.push(message.id)
    else this.emit('message', { kind: 'closed' } satisfies FromThread)
  }

  say(message: FromThread): void {
    this.emit('message', message)
  }

  die(why?: Error): void {
    if (why) this.emit('error', why)
    this.emit('exit', 1)
  }

  async terminate(): Promise<void> {}
}
