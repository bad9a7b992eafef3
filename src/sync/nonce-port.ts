/**
 * Both ends of the connection between the signer thread, which requests nonces, and the sync thread, which reads them.
 */

import type { MessagePort } from 'node:worker_threads'
import type { NonceReading } from '../attest/nonces.ts'
import { Requester, serve } from '../wire/request-port.ts'
import type { Hex } from '../wire/values.ts'

interface NonceOperations {
  nonce: { argument: { readonly chainId: number; readonly attester: Hex }; result: NonceReading }
}

const NO_READING: NonceReading = { ok: false, refusalReason: undefined }

export interface NonceConnection {
  /** Replaces the connection after the sync thread restarted. */
  connect(port: MessagePort): void
  /** Reads the nonce from the chain. Never rejects; without a connection, or when it breaks, the reading is not ok. */
  read(chainId: number): Promise<NonceReading>
}

/** Creates the signer's end. */
export function createNonceConnection(attester: Hex): NonceConnection {
  const requests = new Requester<NonceOperations>({
    notConnected: 'there is no sync thread',
    ended: 'the sync thread ended',
    toError: ({ type }) => new Error(type),
  })
  return {
    connect: (port) => requests.connect(port),
    read: (chainId) => requests.ask('nonce', { chainId, attester }).catch(() => NO_READING),
  }
}

/** Serves requests at the sync thread's end. */
export function serveNonces(port: MessagePort, read: (chainId: number, attester: Hex) => Promise<NonceReading>): void {
  serve<NonceOperations>(port, { nonce: ({ chainId, attester }) => read(chainId, attester) })
}
