import { type Config, ConfigError } from '../config.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import { NO_RESOLVER, SCHEMA_KINDS, SCHEMA_STRINGS, type SchemaKind, schemaUid, schemaUids } from './schemas.ts'

/**
 * Every UID that is known to mean one kind of data, whatever a chain says: the configured ones, the built-in ones and
 * their spellings with spaces or not revocable. Signing other data under one of them is refused (decision 84).
 *
 * @throws {ConfigError} when one UID would mean two kinds
 */
export function schemaKinds(config: Pick<Config, 'schemas'>): ReadonlyMap<string, SchemaKind> {
  const keccak = javascriptKeccak()
  const configured = schemaUids(config)
  const kinds = new Map<string, SchemaKind>()
  for (const kind of SCHEMA_KINDS) {
    const text = SCHEMA_STRINGS[kind]
    const spellings = [text, text.replaceAll(',', ', ')].flatMap((spelling) =>
      [true, false].map((revocable) => schemaUid(spelling, NO_RESOLVER, revocable, keccak)),
    )
    for (const uid of [configured[kind], ...spellings]) {
      const other = kinds.get(uid)
      if (other !== undefined && other !== kind) {
        throw new ConfigError(
          `${kind.toUpperCase().replace('-', '_')}_SCHEMA_UID=${uid}: is the schema of ${other} data`,
        )
      }
      kinds.set(uid, kind)
    }
  }
  return kinds
}
