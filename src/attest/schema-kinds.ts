import { type Config, ConfigError, type LocationLayout } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import type { Hex } from '../messages.ts'
import {
  DEFAULT_UIDS,
  LOCATION_STRINGS,
  NO_RESOLVER,
  SCHEMA_KINDS,
  SCHEMA_STRINGS,
  type SchemaKind,
  schemaUid,
  schemaUids,
} from './schemas.ts'

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
    const texts = kind === 'location' ? Object.values(LOCATION_STRINGS) : [SCHEMA_STRINGS[kind]]
    const spellings = texts.flatMap((text) => spelledUids(text, keccak))
    const given = kind === 'location' ? locationSchemas(config).keys() : [configured[kind]]
    for (const uid of [...given, ...spellings]) {
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

/**
 * The schemas of location attestations that are read, each with its layout: the one that the setting names, else the one whose
 * string makes this UID (without a resolver, with or without spaces, revocable or not), else nine fields.
 *
 * @returns in the order of the setting
 * @throws {ConfigError} when the setting names one layout and the UID is that of the other
 */
export function locationSchemas({ schemas }: Pick<Config, 'schemas'>): ReadonlyMap<Hex, LocationLayout> {
  if (schemas.location.length === 0) return new Map([[DEFAULT_UIDS.location, 'nine-fields']])
  const keccak = javascriptKeccak()
  const known = new Map(
    Object.entries(LOCATION_STRINGS).flatMap(([layout, text]) =>
      spelledUids(text, keccak).map((uid): [Hex, LocationLayout] => [uid, layout as LocationLayout]),
    ),
  )
  return new Map(
    schemas.location.map(({ uid, layout }): [Hex, LocationLayout] => {
      const knownLayout = known.get(uid as Hex)
      if (layout !== undefined && knownLayout !== undefined && layout !== knownLayout) {
        throw new ConfigError(`LOCATION_SCHEMA_UID=${uid}:${layout}: this UID is that of the layout ${knownLayout}`)
      }
      return [uid as Hex, layout ?? knownLayout ?? 'nine-fields']
    }),
  )
}

function spelledUids(text: string, keccak: Keccak): Hex[] {
  return [text, text.replaceAll(',', ', ')].flatMap((spelling) =>
    [true, false].map((revocable) => schemaUid(spelling, NO_RESOLVER, revocable, keccak)),
  )
}
