import type { Hex } from '../wire/messages.ts'

export interface SchemaCacheOptions {
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
