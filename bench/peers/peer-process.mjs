import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const CHILD = fileURLToPath(new URL('child.mjs', import.meta.url))

/** A worker or a client of a peer in a process of its own; see `child.mjs`. */
export class PeerProcess {
  #process

  static async start(module, role, settings) {
    const started = new PeerProcess()
    started.#process = fork(CHILD, [module, role, JSON.stringify(settings)], {
      execArgv: [],
      serialization: 'advanced',
    })
    await Promise.race([
      once(started.#process, 'message'),
      once(started.#process, 'exit').then(() => Promise.reject(new Error(`${module} ${role} did not start`))),
    ])
    return started
  }

  async call(call, given) {
    this.#process.send({ call, given })
    const [answer] = await once(this.#process, 'message')
    if (answer.error) throw new Error(`${call}: ${answer.error}`)
    return answer.told
  }

  async stop() {
    const ended = once(this.#process, 'exit')
    await Promise.race([this.call('stop'), new Promise((resolve) => setTimeout(resolve, 5_000))])
    this.#process.disconnect()
    setTimeout(() => this.#process.kill('SIGKILL'), 5_000).unref()
    await ended
  }
}
