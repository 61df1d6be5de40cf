import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ListenAddress } from './telemetry-settings.js'

/** Serves `/metrics` and nothing else. */
export interface PrometheusServer {
  /** Where it listens: the port is the one that was given, or the one that was found for 0. */
  readonly address: ListenAddress
  close(): Promise<void>
}

/**
 * Listens for scrapes.
 *
 * @param answer - Writes the metrics.
 * @throws {@link Error} that says which address cannot be used, and why.
 */
export async function servePrometheus(at: ListenAddress, answer: RequestListener): Promise<PrometheusServer> {
  const server = createServer((request, response) => {
    const [path] = (request.url ?? '').split('?')
    if (path !== '/metrics') return response.writeHead(404).end('only /metrics is served here\n')
    if (request.method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end()
    return answer(request, response)
  })
  await listening(server, at)
  // A scraper that stays connected does not keep the process alive.
  server.unref()
  const { port } = server.address() as AddressInfo
  return { address: { host: at.host, port }, close: () => closed(server) }
}

function listening(server: Server, { host, port }: ListenAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`cannot serve /metrics on ${host}:${port}: ${cause.message}`, { cause })),
    )
    server.listen(port, host, resolve)
  })
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  })
}
