/**
 * ABI encoding of the data we attest, packed by hand: 1 µs against 7 µs with a general encoder. Solidity's
 * `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS`, without a leading offset.
 */
import { bytesToHex, utf8 } from '../crypto/hex.ts'
import type { Hex } from '../messages.ts'

/** What `verify` data says: metres and basis points (1/10,000) to nearest (decision 25). */
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

/** What `merkle-root` data says: that we stand behind every leaf under this root (decision 103). */
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

/**
 * @param result centimetres or square centimetres, 0 … 2²⁵⁶−1
 * @param units `centimeters` or `square_centimeters`
 * @param inputRefs 32 bytes each
 * @throws {RangeError} on a value that does not fit its field: a bug of ours
 */
export function encodeNumeric(
  result: bigint,
  units: string,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): Hex {
  const unitsTail = dynamicBytes(units)
  const refsTail = bytes32Array(inputRefs)
  const refsOffset = 160 + unitsTail.length / 2
  const operationOffset = refsOffset + refsTail.length / 2
  return `0x${uint256(result)}${word(160)}${word(refsOffset)}${word(timestampSeconds)}${word(operationOffset)}${unitsTail}${refsTail}${dynamicBytes(operation)}`
}

/** Parameters as for `encodeNumeric`. */
export function encodeBoolean(
  result: boolean,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): Hex {
  const refsTail = bytes32Array(inputRefs)
  const operationOffset = 128 + refsTail.length / 2
  return `0x${word(result ? 1 : 0)}${word(128)}${word(timestampSeconds)}${word(operationOffset)}${refsTail}${dynamicBytes(operation)}`
}

/** @throws {RangeError} on a value that does not fit its field */
export function encodeVerify(data: VerifyData): Hex {
  let text: Hex = `0x${bytes32(data.proofHash)}`
  for (const [name, bits] of VERIFY_FIELDS) {
    if (data[name] >= 2 ** bits) throw new RangeError(`${name} ${data[name]} does not fit ${bits} bits`)
    text += word(data[name])
  }
  return text as Hex
}

/**
 * @param leafCount 1 … 2³²−1
 * @throws {RangeError} on a value that does not fit its field
 */
export function encodeMerkleRoot({ merkleRoot, leafCount, timestampSeconds }: MerkleRootData): Hex {
  if (leafCount === 0 || leafCount >= 2 ** 32) throw new RangeError(`a root over ${leafCount} leaves`)
  return `0x${bytes32(merkleRoot)}${word(leafCount)}${word(timestampSeconds)}`
}

const ZEROS = '0'.repeat(64)

function word(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`${value} is not an unsigned integer`)
  return padded(value.toString(16))
}

function padded(digits: string): string {
  return ZEROS.slice(digits.length) + digits
}

function uint256(value: bigint): string {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError('value does not fit uint256')
  return padded(value.toString(16))
}

function bytes32(hex: Hex): string {
  if (!/^0x[0-9a-f]{64}$/.test(hex)) throw new RangeError('a reference is 0x and 64 lower-case hex digits')
  return hex.slice(2)
}

function bytes32Array(items: readonly Hex[]): string {
  let text = word(items.length)
  for (const item of items) text += bytes32(item)
  return text
}

/** Length in bytes, then the bytes of the UTF-8 text, filled up with zeros to whole words. */
function dynamicBytes(text: string): string {
  const bytes = utf8(text)
  return word(bytes.length) + bytesToHex(bytes).padEnd(Math.ceil(bytes.length / 32) * 64, '0')
}
