import { MessageChannel } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { createNonceConnection, serveNonces } from '../../src/sync/nonce-port.ts'

const ATTESTER = '0x00000000000000000000000000000000000000aa'
const NO_READING = { ok: false, refusalReason: undefined }

it('reads nonces over the connection, and gives no reading when the other side fails or there is none', async () => {
  const connection = createNonceConnection(ATTESTER)
  expect(await connection.read(1)).toEqual(NO_READING)
  const { port1, port2 } = new MessageChannel()
  connection.connect(port1)
  serveNonces(port2, async (chainId, attester) => {
    if (chainId === 0) throw new Error('no such chain')
    return { ok: true, nonce: chainId * 10 + Number(attester === ATTESTER) }
  })
  expect(await connection.read(7)).toEqual({ ok: true, nonce: 71 })
  expect(await connection.read(0)).toEqual(NO_READING)
  const pending = connection.read(8)
  port2.close()
  expect(await pending).toEqual(NO_READING)
})

// Regression: only the end of the current port settled reads, so those of a port that was replaced waited forever.
it('settles the reads of a connection that is replaced', async () => {
  const connection = createNonceConnection(ATTESTER)
  const [old, next] = [new MessageChannel(), new MessageChannel()]
  connection.connect(old.port1)
  const pending = connection.read(1)
  connection.connect(next.port1)
  expect(await pending).toEqual(NO_READING)
  serveNonces(next.port2, async (chainId) => ({ ok: true, nonce: chainId }))
  expect(await connection.read(2)).toEqual({ ok: true, nonce: 2 })
  next.port2.close()
})
