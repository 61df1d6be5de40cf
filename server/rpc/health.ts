import type { sendUnaryData, Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js'
import { HealthImplementation, type ServingStatusMap } from 'grpc-health-check'
import { cut } from './cut.js'

/** Names under which the state of the server is asked for; '' = the whole. */
const SERVICES = ['', 'punctual.v1.SchedulerService']
const MAX_MESSAGE_BYTES = 256

/** `grpc.health.v1.Health`: whether this server takes tasks and starts them. */
export class Health {
  readonly #implementation: HealthImplementation

  constructor() {
    const all: ServingStatusMap = Object.fromEntries(SERVICES.map((name) => [name, 'NOT_SERVING']))
    this.#implementation = new HealthImplementation(all)
  }

  set serving(serving: boolean) {
    for (const name of SERVICES) this.#implementation.setStatus(name, serving ? 'SERVING' : 'NOT_SERVING')
  }

  addTo(server: Server): void {
    this.#implementation.addToServer({
      addService: (service: ServiceDefinition, implementation: UntypedServiceImplementation) =>
        server.addService(service, { ...implementation, check: shortened(implementation.check as Check) }),
    })
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
