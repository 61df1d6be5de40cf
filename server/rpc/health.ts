import type { sendUnaryData, Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import type { HealthImplementation } from 'grpc-health-check'
import type { Log } from '../task/log.js'
import { cut } from './cut.js'
import { addLateService, type ServiceTarget } from './late-service.js'

/** Names under which the state of the server is asked for; '' = the whole. */
const SERVICES = ['', 'punctual.v1.SchedulerService']
const MAX_MESSAGE_BYTES = 256

const METHODS = [
  { path: '/grpc.health.v1.Health/Check' },
  { path: '/grpc.health.v1.Health/List' },
  { path: '/grpc.health.v1.Health/Watch', streams: 'answers' as const },
]

/** `grpc.health.v1.Health`: whether this server takes tasks and starts them. */
export class Health {
  #serving = false
  #implementation: HealthImplementation | undefined

  set serving(serving: boolean) {
    this.#serving = serving
    this.#tell()
  }

  /** @returns loads it before it is asked for. */
  addTo(server: Server, log: Log): () => Promise<void> {
    const load = async () => {
      const { HealthImplementation } = await import('grpc-health-check')
      const health = new HealthImplementation()
      this.#implementation = health
      this.#tell()
      return (target: ServiceTarget) =>
        health.addToServer({
          addService: (service: ServiceDefinition, implementation: UntypedServiceImplementation) =>
            target.addService(service, {
              ...implementation,
              check: shortened(implementation.check as Check),
            }),
        })
    }
    return addLateService(server, METHODS, load, log)
  }

  #tell(): void {
    const state = this.#serving ? 'SERVING' : 'NOT_SERVING'
    for (const name of SERVICES) this.#implementation?.setStatus(name, state)
  }
}

type Check = (call: unknown, send: sendUnaryData<unknown>) => void

/** The library repeats the name that was asked for, and a status message of 100 kB hangs the whole connection. */
function shortened(check: Check): Check {
  return (call, send) =>
    check(call, (error, value) => {
      if (error?.code === undefined) send(error, value)
      else send({ code: error.code, details: cut(error.details ?? '', MAX_MESSAGE_BYTES) })
    })
}
