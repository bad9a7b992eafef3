/**
 * Both ends of the connection between the signer thread, which requests nonces, and the sync thread, which reads them.
 */

import type { MessagePort } from 'node:worker_threads'
import type { NonceReading } from '../attest/nonces.ts'
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
