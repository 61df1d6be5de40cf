import { Server, ServerCredentials, type ServerInterceptor } from '@grpc/grpc-js'
import type { Clock } from '../clock.js'
import { Health } from './health.js'
import { addReflection } from './reflection.js'
import { implementation, SERVICE, type ServiceParts } from './service-table.js'

const SHORTEST_KEEPALIVE_TIMEOUT_MS = 1_000
/** For calls that are still being answered when the server stops. */
const LAST_ANSWERS_MS = 2_000

/** PEM files. */
export interface Tls {
  readonly cert: Buffer
  readonly key: Buffer
  /** Only callers with a certificate of this authority. */
  readonly ca?: Buffer
}

export interface GrpcServerOptions {
  /** Such as `127.0.0.1`, `localhost` or `::1`. */
  readonly host: string
  /** 0 = any free one. */
  readonly port: number
  readonly tls?: Tls
  readonly maxMessageBytes: number
  /** How often a connection is asked whether its peer is still there; a third of it is how long the answer may take. */
  readonly keepaliveMs: number
  readonly interceptors: readonly ServerInterceptor[]
  readonly clock: Clock
}

/** The port: the service, health and reflection on it. */
export class GrpcServer {
  readonly health = new Health()
  readonly #server: Server
  readonly #options: GrpcServerOptions
  /** Load what the port has beside the service. */
  readonly #late: readonly (() => Promise<void>)[]

  constructor(parts: ServiceParts, options: GrpcServerOptions) {
    this.#options = options
    this.#server = new Server({
      'grpc.max_receive_message_length': options.maxMessageBytes,
      // what is sent is bounded where it is made
      'grpc.max_send_message_length': -1,
      // finds a peer that vanished, so that its streams end
      'grpc.keepalive_time_ms': options.keepaliveMs,
      'grpc.keepalive_timeout_ms': Math.max(SHORTEST_KEEPALIVE_TIMEOUT_MS, options.keepaliveMs / 3),
      'grpc.enable_channelz': 0,
      interceptors: [...options.interceptors],
    })
    this.#server.addService(SERVICE, implementation(parts, options.clock))
    this.#late = [this.health.addTo(this.#server, parts.log), addReflection(this.#server, parts.log)]
  }

  /**
   * Listens.
   *
   * @returns the port.
   * @throws Error with one clear line when the address cannot be had.
   */
  async listen(): Promise<number> {
    const { host, port, tls } = this.#options
    const address = `${host.includes(':') ? `[${host}]` : host}:${port}`
    return new Promise((resolve, reject) => {
      this.#server.bindAsync(address, credentials(tls), (error, bound) => {
        if (error) reject(new Error(`cannot listen on ${address}: ${error.message}`, { cause: error }))
        else resolve(bound)
      })
    })
  }

  /** Loads health and reflection, which a start does not wait for, so that no call does either. What cannot be loaded is told to who asks for it. */
  async warm(): Promise<void> {
    for (const load of this.#late) await load().catch(() => {})
  }

  /** Takes no more calls, lets those under way be answered for 2 s, then ends them. Streams must have been ended before. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = this.#options.clock.setTimer(LAST_ANSWERS_MS, () => {
        this.#server.forceShutdown()
        resolve()
      })
      this.#server.tryShutdown(() => {
        timer.cancel()
        resolve()
      })
    })
  }
}

function credentials(tls: Tls | undefined): ServerCredentials {
  if (!tls) return ServerCredentials.createInsecure()
  const pair = { private_key: tls.key, cert_chain: tls.cert }
  return ServerCredentials.createSsl(tls.ca ?? null, [pair], tls.ca !== undefined)
}
