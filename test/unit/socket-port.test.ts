import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { beforeAll, expect, it } from 'vitest'
import { freeBuffer, freeBufferReady } from '../../src/base/bytes.ts'
import { SocketPort } from '../../src/wire/socket-port.ts'
import { eventually } from '../eventually.ts'

interface Page {
  readonly id: number
  readonly documents: Uint8Array
}

beforeAll(() => freeBufferReady)

// Regression: messages that arrived together shared memory, so a receiver that freed a page broke those after it.
it.each([
  ['short', [300, 300, 300]],
  ['of several sizes', [5000, 5000, 100, 5000, 70_000]],
  ['long', [1_000_000, 1_000_000, 900_000]],
])('delivers messages whose memory the receiver frees: %s', async (_, sizes) => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { readonly port: number }
  const [[accepted], client] = await Promise.all([
    once(server, 'connection') as Promise<[Socket]>,
    new Promise<Socket>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(socket))
    }),
  ])
  const [sender, receiver] = [new SocketPort(accepted), new SocketPort(client)]
  const received: string[] = []
  receiver.on('message', ({ id, documents }: Page) => {
    received.push(`${id} ${documents.length} ${documents.every((byte) => byte === id)}`)
    freeBuffer(documents.buffer)
  })
  accepted.cork()
  for (const [index, size] of sizes.entries())
    sender.postMessage({ id: index + 1, documents: new Uint8Array(size).fill(index + 1) } satisfies Page)
  accepted.uncork()
  await eventually(() => expect(received).toEqual(sizes.map((size, index) => `${index + 1} ${size} true`)))
  sender.destroy()
  receiver.destroy()
  server.close()
})
