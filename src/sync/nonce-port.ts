/**
 * Both ends of the connection between the signer thread, which requests nonces, and the sync thread, which reads them.
 */

import type { MessagePort } from 'node:worker_threads'
import type { NonceReading } from '../attest/nonces.ts'
import { Requester, serve } from '../wire/request-port.ts'
import type { Hex } from '../wire/values.ts'

interface SchemaCacheOptions {
  /** Reads a schema string from the chain; undefined when the schema is not registered. */
  readonly fetchSchema: (uid: Hex) => Promise<string | undefined>
  readonly maxEntries: number
  /** How long "not registered" is cached. */
  readonly unregisteredMs: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/**
 * Creates a cache of the schema strings of one chain. A registered schema never changes and stays until it is evicted. A schema
 * that is not registered is read again after a while. Concurrent lookups of one schema share one call.
 */
export function createSchemaCache({ fetchSchema: look, maxEntries, unregisteredMs, now }: SchemaCacheOptions) {
  const cached = new Map<Hex, { readonly text: string | undefined; readonly untilMs: number }>()
  const pending = new Map<Hex, Promise<string | undefined>>()

  async function fetchSchema(uid: Hex): Promise<string | undefined> {
    try {
      const text = await look(uid)
      if (cached.size >= maxEntries) cached.delete(cached.keys().next().value!)
      cached.set(uid, { text, untilMs: text === undefined ? now() + unregisteredMs : Number.POSITIVE_INFINITY })
      return text
    } finally {
      pending.delete(uid)
    }
  }

  return (uid: Hex): Promise<string | undefined> => {
    const entry = cached.get(uid)
    if (entry !== undefined && now() < entry.untilMs) return Promise.resolve(entry.text)
    cached.delete(uid)
    let lookup = pending.get(uid)
    if (lookup === undefined) {
      lookup = fetchSchema(uid)
      pending.set(uid, lookup)
    }
    return lookup
  }
}

interface NonceOperations {
  nonce: { argument: { readonly chainId: number; readonly attester: Hex }; result: NonceReading }
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
