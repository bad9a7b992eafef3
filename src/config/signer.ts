/** Settings of what the service signs. `config/signing-key.ts` reads the key itself, in the signer thread only (decision 96). */
import { bytes32, ConfigError, flag, integer, parsed, productionFlag, splitList } from './setting.ts'

/** Data layout of a location attestation: the nine fields of Location Protocol 0.2, or the four strings of its predecessor. */
export type LocationLayout = 'nine-fields' | 'four-strings'

export interface LocationSchema {
  readonly uid: string
  /** undefined: the layout of the known schema with this UID; for an unknown UID, nine fields. */
  readonly layout: LocationLayout | undefined
}

export const SIGNER_SETTINGS = {
  allowDevelopmentKey: productionFlag('ALLOW_DEV_KEY'),
  schemas: {
    numeric: bytes32('NUMERIC_SCHEMA_UID'),
    boolean: bytes32('BOOLEAN_SCHEMA_UID'),
    verify: bytes32('VERIFY_SCHEMA_UID'),
    'merkle-root': bytes32('MERKLE_ROOT_SCHEMA_UID'),
    /** UIDs in lower case, in the order given. Empty: the built-in schema is used. */
    location: parsed<readonly LocationSchema[]>('LOCATION_SCHEMA_UID', [], readLocationSchemas),
  },
  /** True: requests may name a schema that is not one of this service. */
  allowAnySchema: flag('ALLOW_ANY_SCHEMA', true),
  /** Largest age of a nonce read that may be used for a signature. 0: the read must begin after the request arrived. */
  nonceMaxAgeMs: integer('NONCE_MAX_AGE_MS', 0, 0, 3_600_000),
  attestationTtlSeconds: integer('ATTESTATION_TTL_SECONDS', 3600, 60, 86_400),
  verifiedProofMaxAgeSeconds: integer('VERIFIED_PROOF_MAX_AGE_SECONDS', 86_400, 0, 31_536_000),
  /** How long after its computation a result can be signed again. */
  resignMaxAgeSeconds: integer('RESIGN_MAX_AGE_SECONDS', 86_400, 0, 31_536_000),
  /** Former attester addresses, lower case. Their verified proofs are still accepted as inputs. */
  retiredAttesters: parsed<readonly string[]>('RETIRED_ATTESTERS', [], (value, fail) => {
    const addresses = splitList(value)
    // A mistyped address would silently match no proof.
    if (!addresses.every((address) => /^0x[0-9a-fA-F]{40}$/.test(address)))
      fail('addresses (0x and 40 hex digits), separated by commas')
    return addresses.map((address) => address.toLowerCase())
  }),
}

/** Reads a list such as `0x…,0x…:four-strings`. */
function readLocationSchemas(value: string): LocationSchema[] {
  const schemas = splitList(value).map((entry): LocationSchema => {
    const [, uid, layout] = /^(0x[0-9a-fA-F]{64})(?::(nine-fields|four-strings))?$/.exec(entry) ?? []
    if (uid !== undefined) return { uid: uid.toLowerCase(), layout: layout as LocationLayout | undefined }
    const expected =
      'UIDs (0x and 64 hex digits) separated by commas, each optionally followed by :nine-fields or :four-strings'
    throw new ConfigError(`LOCATION_SCHEMA_UID=${JSON.stringify(entry)}: must be ${expected}`)
  })
  const duplicate = schemas.find(({ uid }, index) => schemas.findIndex((other) => other.uid === uid) !== index)
  if (duplicate !== undefined) throw new ConfigError(`LOCATION_SCHEMA_UID: ${duplicate.uid} is listed twice`)
  return schemas
}
