import { type Config, ConfigError, type LocationLayout } from '../config/config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { javascriptKeccak } from '../crypto/keccak-javascript.ts'
import type { Hex } from '../wire/messages.ts'
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
 * Lists every schema UID whose kind of data is known without reading a chain: the configured ones, the built-in ones, and the
 * variants of the built-in ones with spaces or not revocable. The signer rejects data of another kind under these UIDs
 * (decision 84).
 *
 * @throws {ConfigError} when one UID would stand for two kinds
 */
export function schemaKinds(config: Pick<Config, 'schemas'>): ReadonlyMap<string, SchemaKind> {
  const keccak = javascriptKeccak()
  const configured = schemaUids(config)
  const kinds = new Map<string, SchemaKind>()
  for (const kind of SCHEMA_KINDS) {
    const texts = kind === 'location' ? Object.values(LOCATION_STRINGS) : [SCHEMA_STRINGS[kind]]
    const variants = texts.flatMap((text) => uidVariants(text, keccak))
    const configuredUids = kind === 'location' ? locationSchemas(config).keys() : [configured[kind]]
    for (const uid of [...configuredUids, ...variants]) {
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
 * Lists the schemas of location attestations to read, each with its layout. The layout comes from the setting; else from the
 * known schema text that has this UID (no resolver, with or without spaces, revocable or not); else it is `nine-fields`.
 *
 * @returns layouts by schema UID, in the order of the setting
 * @throws {ConfigError} when the setting names one layout and the UID belongs to the other
 */
export function locationSchemas({ schemas }: Pick<Config, 'schemas'>): ReadonlyMap<Hex, LocationLayout> {
  if (schemas.location.length === 0) return new Map([[DEFAULT_UIDS.location, 'nine-fields']])
  const keccak = javascriptKeccak()
  const knownLayouts = new Map(
    Object.entries(LOCATION_STRINGS).flatMap(([layout, text]) =>
      uidVariants(text, keccak).map((uid): [Hex, LocationLayout] => [uid, layout as LocationLayout]),
    ),
  )
  return new Map(
    schemas.location.map(({ uid, layout }): [Hex, LocationLayout] => {
      const knownLayout = knownLayouts.get(uid as Hex)
      if (layout !== undefined && knownLayout !== undefined && layout !== knownLayout) {
        throw new ConfigError(`LOCATION_SCHEMA_UID=${uid}:${layout}: this UID belongs to the layout ${knownLayout}`)
      }
      return [uid as Hex, layout ?? knownLayout ?? 'nine-fields']
    }),
  )
}

/** Computes the UIDs of a schema text without and with spaces, revocable or not. */
function uidVariants(text: string, keccak: Keccak): Hex[] {
  return [text, text.replaceAll(',', ', ')].flatMap((schemaText) =>
    [true, false].map((revocable) => schemaUid(schemaText, NO_RESOLVER, revocable, keccak)),
  )
}
