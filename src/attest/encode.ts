/**
 * ABI encoding of the data that is attested: Solidity's `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS`, without a
 * leading offset. Written directly, because that takes 1 µs and a general encoder 7 µs.
 */
import { bytesToHex } from '../crypto/hex.ts'
import type { Hex } from '../wire/values.ts'
import { putBytes32, putUint } from './abi.ts'
import { booleanData, numericData } from './result-data.ts'

/** The content of `verify` data: metres and basis points (1/10,000), rounded to the nearest integer (decision 25). */
export interface VerifyData {
  /** keccak-256 of the canonical JSON of the proof as received. */
  readonly proofHash: Hex
  readonly meanDistanceMeters: number
  readonly maxDistanceMeters: number
  readonly withinRadiusBp: number
  readonly meanOverlapBp: number
  readonly minOverlapBp: number
  readonly signaturesValidBp: number
  readonly structureValidBp: number
  readonly signalsConsistentBp: number
  readonly uniquePluginRatioBp: number
  readonly stampCount: number
}

/** The content of `merkle-root` data. It vouches for every leaf under the root (decision 103). */
export interface MerkleRootData {
  readonly merkleRoot: Hex
  readonly leafCount: number
  /** When the results were computed. */
  readonly timestampSeconds: number
}

/** The fields of `VerifyData` after the hash, in order, with their sizes in bits. */
export const VERIFY_FIELDS = [
  ['meanDistanceMeters', 32],
  ['maxDistanceMeters', 32],
  ['withinRadiusBp', 16],
  ['meanOverlapBp', 16],
  ['minOverlapBp', 16],
  ['signaturesValidBp', 16],
  ['structureValidBp', 16],
  ['signalsConsistentBp', 16],
  ['uniquePluginRatioBp', 16],
  ['stampCount', 8],
] as const satisfies readonly (readonly [keyof VerifyData, number])[]

/** Encodes a numeric result as hex; parameters as for `numericData`. */
export function encodeNumeric(...fields: Parameters<typeof numericData>): Hex {
  return `0x${bytesToHex(numericData(...fields).bytes)}`
}

/** Encodes a boolean result as hex; parameters as for `booleanData`. */
export function encodeBoolean(...fields: Parameters<typeof booleanData>): Hex {
  return `0x${bytesToHex(booleanData(...fields).bytes)}`
}

/** @throws {RangeError} on a value that does not fit its field */
export function encodeVerify(data: VerifyData): Hex {
  const words = new Uint8Array((1 + VERIFY_FIELDS.length) * 32)
  putBytes32(words, 0, data.proofHash)
  VERIFY_FIELDS.forEach(([name, bits], index) => {
    if (data[name] >= 2 ** bits) throw new RangeError(`${name} ${data[name]} does not fit in ${bits} bits`)
    putUint(words, 1 + index, data[name])
  })
  return `0x${bytesToHex(words)}`
}

/**
 * @param leafCount 1 … 2³²−1
 * @throws {RangeError} on a value that does not fit its field
 */
export function encodeMerkleRoot({ merkleRoot, leafCount, timestampSeconds }: MerkleRootData): Hex {
  if (leafCount === 0 || leafCount >= 2 ** 32) throw new RangeError(`leafCount ${leafCount} is not from 1 to 2³²−1`)
  const words = new Uint8Array(3 * 32)
  putBytes32(words, 0, merkleRoot)
  putUint(words, 1, leafCount)
  putUint(words, 2, timestampSeconds)
  return `0x${bytesToHex(words)}`
}
