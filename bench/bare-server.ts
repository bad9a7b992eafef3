/**
 * A server that answers every request with the same refusal and does nothing else: `node bare-server.js uws|node`. It prints its port.
 * What it costs is what the transport and the system take for a request, so no refusal of the service can cost less.
 */
import { createServer } from 'node:http'
import { loadInstalledUws } from '../src/http/transport/server.ts'

const HEADERS = { 'Content-Type': 'application/problem+json', 'Retry-After': '1' }
const BODY = JSON.stringify({ type: 'overloaded', status: 503, detail: 'too many requests are waiting'.padEnd(200) })

function serveOnUws(): void {
  const loaded = loadInstalledUws([])
  if (!loaded.ok) throw new Error(loaded.reason)
  const { uws } = loaded
  const app = uws.App().any('/*', (response) => {
    response.writeStatus('503 Service Unavailable')
    for (const [name, value] of Object.entries(HEADERS)) response.writeHeader(name, value)
    response.end(BODY)
  })
  app.listen(0, (token) => {
    if (token !== false) console.log(uws.us_socket_local_port(token))
  })
}

function serveOnNode(): void {
  const server = createServer((_request, response) => {
    response.writeHead(503, { ...HEADERS, 'Content-Length': BODY.length })
    response.end(BODY)
  })
  server.listen(0, () => {
    const address = server.address()
    if (typeof address === 'object') console.log(address?.port)
  })
}

if (process.argv[2] === 'uws') serveOnUws()
else serveOnNode()
