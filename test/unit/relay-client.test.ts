import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { startRelay } from '../../src/threads/relay-client.ts'
import type { ChainRequest } from '../../src/wire/sync-messages.ts'

type Connector = (post: (request: ChainRequest, port: MessagePort) => void) => void

const signer = {
  address: '0x00000000000000000000000000000000000000AA',
  sign: (() => Promise.reject(new Error('not called'))) as never,
}
const silent = { info() {}, warn() {}, error() {} }

// Regression: each restart of the sync thread left a subscription behind.
it('holds one subscription of ports to the store, that of the latest sync thread', async () => {
  let connector: Connector | undefined
  const chainClient = {
    connect(given: Connector) {
      connector = given
    },
    serves: () => true,
    states: () => new Map(),
  }
  const subscribers = new Set<(port: MessagePort) => void>()
  const store = {
    connect(onPort: (port: MessagePort) => void) {
      subscribers.add(onPort)
      return () => void subscribers.delete(onPort)
    },
  }
  startRelay({ chainClient, signer, store, log: silent })
  const relays: MessagePort[] = []
  for (let thread = 0; thread < 3; thread++) connector!((_, port) => relays.push(port))
  expect(subscribers.size).toBe(1)

  const received = new Promise<{ type: string }>((resolve) => relays.at(-1)!.once('message', resolve))
  const { port1, port2 } = new MessageChannel()
  for (const onPort of subscribers) onPort(port2)
  expect(await received).toMatchObject({ type: 'store' })
  port1.close()
  for (const port of relays) port.close()
})
