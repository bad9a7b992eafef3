import type { Hex } from '../messages.ts'

export interface SchemaCacheOptions {
  /** Asks the chain; undefined when no such schema is registered. */
  readonly look: (uid: Hex) => Promise<string | undefined>
  readonly maxEntries: number
  /** How long "not registered" is believed. */
  readonly unregisteredMs: number
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number
}

/**
 * Schema strings of one chain. A registered one never changes and stays until there is no room; one that is not
 * registered is asked for again after a while. Equal questions at one time cost one call.
 */
export function createSchemaCache({ look, maxEntries, unregisteredMs, now }: SchemaCacheOptions) {
  const known = new Map<Hex, { readonly text: string | undefined; readonly untilMs: number }>()
  const asked = new Map<Hex, Promise<string | undefined>>()

  async function ask(uid: Hex): Promise<string | undefined> {
    try {
      const text = await look(uid)
      if (known.size >= maxEntries) known.delete(known.keys().next().value!)
      known.set(uid, { text, untilMs: text === undefined ? now() + unregisteredMs : Number.POSITIVE_INFINITY })
      return text
    } finally {
      asked.delete(uid)
    }
  }

  return (uid: Hex): Promise<string | undefined> => {
    const entry = known.get(uid)
    if (entry !== undefined && now() < entry.untilMs) return Promise.resolve(entry.text)
    known.delete(uid)
    let answer = asked.get(uid)
    if (answer === undefined) {
      answer = ask(uid)
      asked.set(uid, answer)
    }
    return answer
  }
}
