/** An RPC endpoint that loses, repeats and delays requests, for services that run in other processes. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Share of the requests that have each fault. */
const FAULTS = { 'lost request': 0.01, 'lost response': 0.01, 'repeated request': 0.03, 'slow response': 0.02 }
const MAX_SLOW_MS = 1500

type Fault = keyof typeof FAULTS

export interface FaultyRpc {
  readonly url: string
  /** Requests that had each fault, and those that went to each node. */
  readonly counts: ReadonlyMap<Fault | string, number>
  /** Sends the requests that follow to a node. */
  forwardTo(nodeUrl: string): void
  /** Ends the faults. */
  repair(): void
  close(): void
}

/**
 * Starts an endpoint in front of a node.
 *
 * @param random returns a number from 0 to 1, which decides on the fault of a request; none has a fault at 1
 */
export async function startFaultyRpc(nodeUrl: string, random: () => number): Promise<FaultyRpc> {
  const counts = new Map<string, number>()
  let target = nodeUrl
  let isRepaired = false
  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)
  const server = createServer((request, response) => void answer(request, response).catch(() => request.destroy()))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    forwardTo(url) {
      target = url
    },
    repair() {
      isRepaired = true
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const node = target
    const fault = isRepaired ? undefined : drawFault(random())
    count(node)
    if (fault !== undefined) count(fault)
    let body = ''
    for await (const chunk of request) body += chunk
    const forward = async () => {
      const answered = await fetch(node, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
      return { status: answered.status, text: await answered.text() }
    }
    if (fault === 'lost request') throw new Error(fault)
    if (fault === 'repeated request') await forward()
    const { status, text } = await forward()
    if (fault === 'lost response') throw new Error(fault)
    if (fault === 'slow response') await new Promise((done) => setTimeout(done, random() * MAX_SLOW_MS))
    response.writeHead(status, { 'content-type': 'application/json' }).end(text)
  }
}

/** @param drawn from 0 to 1 */
function drawFault(drawn: number): Fault | undefined {
  let limit = 0
  for (const [fault, share] of Object.entries(FAULTS)) {
    limit += share
    if (drawn < limit) return fault as Fault
  }
  return undefined
}
