/**
 * Both ends of the connection between the signer thread, which requests nonces, and the sync thread, which reads them.
 */
import type { MessagePort } from 'node:worker_threads'
import type { NonceReading } from '../attest/nonces.ts'
import type { Hex } from '../wire/messages.ts'

interface NonceRequest {
  readonly id: number
  readonly chainId: number
  readonly attester: Hex
}

interface NonceReply {
  readonly id: number
  readonly reading: NonceReading
}

const NO_READING: NonceReading = { ok: false, refusal: undefined }

export interface NonceConnection {
  /** Replaces the connection after the sync thread restarted. */
  connect(port: MessagePort): void
  /** Reads the nonce from the chain. Never rejects; without a connection, or when it breaks, the reading is not ok. */
  read(chainId: number): Promise<NonceReading>
}

/** Creates the signer's end. */
export function createNonceConnection(attester: Hex): NonceConnection {
  const pending = new Map<number, (reading: NonceReading) => void>()
  let current: MessagePort | undefined
  let nextId = 0

  function settle(id: number, reading: NonceReading): void {
    pending.get(id)?.(reading)
    pending.delete(id)
  }

  return {
    connect(port) {
      current?.close()
      current = port
      port.on('message', ({ id, reading }: NonceReply) => settle(id, reading))
      port.on('close', () => {
        if (current !== port) return
        current = undefined
        for (const id of [...pending.keys()]) settle(id, NO_READING)
      })
    },
    read(chainId) {
      const port = current
      if (port === undefined) return Promise.resolve(NO_READING)
      return new Promise((resolve) => {
        const id = nextId++
        pending.set(id, resolve)
        port.postMessage({ id, chainId, attester } satisfies NonceRequest)
      })
    },
  }
}

/** Serves requests at the sync thread's end. */
export function serveNonces(port: MessagePort, read: (chainId: number, attester: Hex) => Promise<NonceReading>): void {
  port.on('message', ({ id, chainId, attester }: NonceRequest) => {
    void read(chainId, attester).then((reading) => port.postMessage({ id, reading } satisfies NonceReply))
  })
}
