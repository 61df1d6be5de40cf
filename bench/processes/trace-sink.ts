import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Swallows traces: OTLP over HTTP, answered and forgotten, so that exporting costs the server what it costs, and nobody else much. */
export async function startTraceSink(): Promise<{ readonly endpoint: string; readonly close: () => void }> {
  const server = createServer((request, response) => {
    request
      .resume()
      .once('end', () => response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end())
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    endpoint: `http://127.0.0.1:${port}`,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
