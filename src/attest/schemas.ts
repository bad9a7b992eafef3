import type { Config } from '../config/config.ts'
import { ConfigError } from '../config/setting.ts'
import type { LocationLayout } from '../config/signer.ts'
import { hexToBytes, utf8 } from '../crypto/hex.ts'
import { javascriptKeccak } from '../crypto/noble.ts'
import type { Keccak } from '../crypto/primitives.ts'
import type { AttestationKind, Hex } from '../wire/values.ts'

/** The kinds of data that are signed, and location attestations, which inputs may refer to. */
export type SchemaKind = AttestationKind | 'location'
export const SCHEMA_KINDS = [
  'numeric',
  'boolean',
  'verify',
  'merkle-root',
  'location',
] as const satisfies readonly SchemaKind[]

/** Schema texts as registered: without spaces, because spaces would change the UID. */
export const SCHEMA_STRINGS: Readonly<Record<SchemaKind, string>> = {
  numeric: 'uint256 result,string units,bytes32[] inputRefs,uint256 timestamp,string operation',
  boolean: 'bool result,bytes32[] inputRefs,uint256 timestamp,string operation',
  verify:
    'bytes32 proofHash,uint32 meanDistanceMeters,uint32 maxDistanceMeters,uint16 withinRadiusBp,uint16 meanOverlapBp,' +
    'uint16 minOverlapBp,uint16 signaturesValidBp,uint16 structureValidBp,uint16 signalsConsistentBp,' +
    'uint16 uniquePluginRatioBp,uint8 stampCount',
  'merkle-root': 'bytes32 merkleRoot,uint32 leafCount,uint256 timestamp',
  location:
    'uint256 eventTimestamp,string srs,string locationType,string location,string[] recipeType,bytes[] recipePayload,' +
    'string[] mediaType,string[] mediaData,string memo',
}

/** The schema texts of the supported layouts of location attestations. */
export const LOCATION_STRINGS: Readonly<Record<LocationLayout, string>> = {
  'nine-fields': SCHEMA_STRINGS.location,
  'four-strings': 'string lp_version,string srs,string location_type,string location',
}

/** UIDs of `SCHEMA_STRINGS`, revocable, without a resolver. All are registered on the public chains, except `merkle-root`. */
export const DEFAULT_UIDS: Readonly<Record<SchemaKind, Hex>> = {
  numeric: '0xc2b013ecb68d59b28f5d301203ec630335d97c37b400b16b359db6972572e02a',
  boolean: '0x4958625091a773dcfb37a1c33099a378f32a975a7fb61f33d53c4be7589898f5',
  verify: '0x8b3c602e17eb091dc3a26af8b9a05369ec682046eadffa9b36a93ce4215d6e2f',
  'merkle-root': '0x2b7f289873aff658740590ce899d52e1cee1edecdf6b2d8fa54a4ac001cb9886',
  location: '0xba4171c92572b1e4f241d044c32cdf083be9fd946b8766977558ca6378c824e2',
}

/** The resolver address of schemas that have no resolver contract. */
export const NO_RESOLVER: Hex = `0x${'0'.repeat(40)}`

/**
 * Computes the UID of a schema, the same in every EAS registry: keccak256(abi.encodePacked(schema, resolver, revocable)).
 *
 * @throws {RangeError} on a resolver that is not hex
 */
export function schemaUid(schema: string, resolver: Hex, revocable: boolean, keccak: Keccak): Hex {
  const text = utf8(schema)
  const tail = hexToBytes(`${resolver}${revocable ? '01' : '00'}`)
  if (tail === undefined) throw new RangeError('the resolver is not 20 bytes of hex')
  const packed = new Uint8Array(text.length + tail.length)
  packed.set(text)
  packed.set(tail, text.length)
  return keccak.hashHex(packed)
}

/** Returns the default schema UID of each kind, for requests that name none; for `location`, the first configured one. */
export function schemaUids({ schemas }: Pick<Config, 'schemas'>): Readonly<Record<SchemaKind, Hex>> {
  return {
    numeric: (schemas.numeric ?? DEFAULT_UIDS.numeric) as Hex,
    boolean: (schemas.boolean ?? DEFAULT_UIDS.boolean) as Hex,
    verify: (schemas.verify ?? DEFAULT_UIDS.verify) as Hex,
    'merkle-root': (schemas['merkle-root'] ?? DEFAULT_UIDS['merkle-root']) as Hex,
    location: (schemas.location[0]?.uid ?? DEFAULT_UIDS.location) as Hex,
  }
}

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
 * Lists the schemas of location attestations to read, each with its layout. If the setting names no layout, it is that of the
 * known schema text with this UID (no resolver, with or without spaces, revocable or not). For an unknown UID it is `nine-fields`.
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
