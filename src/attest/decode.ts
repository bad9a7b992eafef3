import type { LocationLayout } from '../config/signer.ts'
import type { Hex } from '../wire/values.ts'
import { type Decoded, readAbi } from './abi.ts'
import { type MerkleRootData, VERIFY_FIELDS, type VerifyData } from './encode.ts'

export interface NumericData {
  readonly result: bigint
  readonly units: string
  readonly inputRefs: readonly Hex[]
  readonly timestampSeconds: bigint
  readonly operation: string
}

export interface BooleanData {
  readonly result: boolean
  readonly inputRefs: readonly Hex[]
  readonly timestampSeconds: bigint
  readonly operation: string
}

/** A location attestation (Location Protocol 0.2). */
export interface LocationData {
  /** undefined when the layout has no such field. */
  readonly eventTimestampSeconds: bigint | undefined
  readonly srs: string
  readonly locationType: string
  readonly location: string
  readonly recipeType: readonly string[]
  readonly recipePayload: readonly Hex[]
  readonly mediaType: readonly string[]
  readonly mediaData: readonly string[]
  readonly memo: string
}

/** Decodes numeric data strictly, the inverse of `encodeNumeric`; never throws on untrusted bytes. */
export function decodeNumeric(data: Hex | Uint8Array): Decoded<NumericData> {
  return readAbi(data, 5, (tuple) => ({
    result: tuple.uint(256),
    units: tuple.string(),
    inputRefs: tuple.bytes32Array(),
    timestampSeconds: tuple.uint(256),
    operation: tuple.string(),
  }))
}

/** Decodes boolean data strictly, the inverse of `encodeBoolean`; never throws on untrusted bytes. */
export function decodeBoolean(data: Hex | Uint8Array): Decoded<BooleanData> {
  return readAbi(data, 4, (tuple) => ({
    result: tuple.bool(),
    inputRefs: tuple.bytes32Array(),
    timestampSeconds: tuple.uint(256),
    operation: tuple.string(),
  }))
}

/** Checks numeric data as strictly as `decodeNumeric`, without decoding its values: for data that is only signed. */
export function checkNumeric(data: Uint8Array): Decoded<void> {
  return readAbi(data, 5, (tuple) => {
    tuple.skipUint(256)
    tuple.skipString()
    tuple.skipBytes32Array()
    tuple.skipUint(256)
    tuple.skipString()
  })
}

/** Checks boolean data as strictly as `decodeBoolean`, without decoding its values. */
export function checkBoolean(data: Uint8Array): Decoded<void> {
  return readAbi(data, 4, (tuple) => {
    tuple.bool()
    tuple.skipBytes32Array()
    tuple.skipUint(256)
    tuple.skipString()
  })
}

/** Decodes verify data strictly, the inverse of `encodeVerify`; never throws on untrusted bytes. */
export function decodeVerify(data: Hex | Uint8Array): Decoded<VerifyData> {
  return readAbi(data, 11, (tuple) => {
    const proofHash = tuple.bytes32()
    const numbers = Object.fromEntries(VERIFY_FIELDS.map(([name, bits]) => [name, tuple.smallUint(bits)]))
    return { proofHash, ...(numbers as unknown as Omit<VerifyData, 'proofHash'>) }
  })
}

/**
 * Decodes Merkle root data strictly, the inverse of `encodeMerkleRoot`; never throws on untrusted bytes.
 *
 * Rejects a timestamp above 2⁴⁸−1 and a count of 0 leaves.
 */
export function decodeMerkleRoot(data: Hex | Uint8Array): Decoded<MerkleRootData> {
  const decoded = readAbi(data, 3, (tuple) => ({
    merkleRoot: tuple.bytes32(),
    leafCount: tuple.smallUint(32),
    timestampSeconds: tuple.smallUint(48),
  }))
  return decoded.ok && decoded.value.leafCount === 0 ? { ok: false, reason: 'has a leafCount of 0' } : decoded
}

/**
 * Decodes the data of a location attestation from a chain, strictly; never throws on untrusted bytes.
 *
 * @param layout of the attestation's schema; members that this layout lacks come back empty
 */
export function decodeLocation(data: Hex, layout: LocationLayout): Decoded<LocationData> {
  if (layout === 'four-strings') {
    return readAbi(data, 4, (tuple) => {
      tuple.skipString() // lp_version: all versions have the same members
      const [srs, locationType, location] = [tuple.string(), tuple.string(), tuple.string()]
      return { ...EMPTY_MEMBERS, srs, locationType, location }
    })
  }
  return readAbi(data, 9, (tuple) => ({
    eventTimestampSeconds: tuple.uint(256),
    srs: tuple.string(),
    locationType: tuple.string(),
    location: tuple.string(),
    recipeType: tuple.dynamicArray((items) => items.string()),
    recipePayload: tuple.dynamicArray((items) => items.bytes()),
    mediaType: tuple.dynamicArray((items) => items.string()),
    mediaData: tuple.dynamicArray((items) => items.string()),
    memo: tuple.string(),
  }))
}

const EMPTY_MEMBERS = {
  eventTimestampSeconds: undefined,
  recipeType: [],
  recipePayload: [],
  mediaType: [],
  mediaData: [],
  memo: '',
}
