/**
 * ABI encoding of the data we attest, packed by hand: 1 µs against 7 µs with a general encoder. Solidity's
 * `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS`, without a leading offset.
 */
import { bytesToHex, putDigits, utf8 } from '../crypto/hex.ts'
import type { Hex } from '../messages.ts'
import { putUint } from './words.ts'

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
 * @returns a view that the next call of any function here writes over
 * @throws {RangeError} on a value that does not fit its field: a bug of ours
 */
export function numericBytes(
  result: bigint,
  units: string,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): Uint8Array {
  const [unitsText, operationText] = [textBytes(units), textBytes(operation)]
  const refsAt = 160 + sizeOfBytes(unitsText)
  const operationAt = refsAt + sizeOfBytes32Array(inputRefs)
  const words = zeros(operationAt + sizeOfBytes(operationText))
  putUint256(words, 0, result)
  putUint(words, 1, 160)
  putUint(words, 2, refsAt)
  putUint(words, 3, timestampSeconds)
  putUint(words, 4, operationAt)
  putBytes(words, 160, unitsText)
  putBytes32Array(words, refsAt, inputRefs)
  putBytes(words, operationAt, operationText)
  return words
}

/** Parameters, result and errors as for `numericBytes`. */
export function booleanBytes(
  result: boolean,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): Uint8Array {
  const operationText = textBytes(operation)
  const operationAt = 128 + sizeOfBytes32Array(inputRefs)
  const words = zeros(operationAt + sizeOfBytes(operationText))
  putUint(words, 0, result ? 1 : 0)
  putUint(words, 1, 128)
  putUint(words, 2, timestampSeconds)
  putUint(words, 3, operationAt)
  putBytes32Array(words, 128, inputRefs)
  putBytes(words, operationAt, operationText)
  return words
}

/** `numericBytes` as text. */
export function encodeNumeric(...fields: Parameters<typeof numericBytes>): Hex {
  return `0x${bytesToHex(numericBytes(...fields))}`
}

/** `booleanBytes` as text. */
export function encodeBoolean(...fields: Parameters<typeof booleanBytes>): Hex {
  return `0x${bytesToHex(booleanBytes(...fields))}`
}

/** @throws {RangeError} on a value that does not fit its field */
export function encodeVerify(data: VerifyData): Hex {
  const words = zeros((1 + VERIFY_FIELDS.length) * 32)
  putBytes32(words, 0, data.proofHash)
  VERIFY_FIELDS.forEach(([name, bits], index) => {
    if (data[name] >= 2 ** bits) throw new RangeError(`${name} ${data[name]} does not fit ${bits} bits`)
    putUint(words, 1 + index, data[name])
  })
  return `0x${bytesToHex(words)}`
}

/**
 * @param leafCount 1 … 2³²−1
 * @throws {RangeError} on a value that does not fit its field
 */
export function encodeMerkleRoot({ merkleRoot, leafCount, timestampSeconds }: MerkleRootData): Hex {
  if (leafCount === 0 || leafCount >= 2 ** 32) throw new RangeError(`a root over ${leafCount} leaves`)
  const words = zeros(3 * 32)
  putBytes32(words, 0, merkleRoot)
  putUint(words, 1, leafCount)
  putUint(words, 2, timestampSeconds)
  return `0x${bytesToHex(words)}`
}

/** Where encodings are made: an array each would cost as much as what is written into it. */
let room = new Uint8Array(1024)

function zeros(bytes: number): Uint8Array {
  if (bytes > room.length) room = new Uint8Array(2 * bytes)
  return room.subarray(0, bytes).fill(0)
}

/** Units and operations are few. */
const MAX_TEXTS = 64
const texts = new Map<string, Uint8Array>()

function textBytes(text: string): Uint8Array {
  const known = texts.get(text)
  if (known !== undefined) return known
  if (texts.size >= MAX_TEXTS) texts.clear()
  const bytes = utf8(text)
  texts.set(text, bytes)
  return bytes
}

function putUint256(words: Uint8Array, index: number, value: bigint): void {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError('value does not fit uint256')
  if (value < 2n ** 48n) putUint(words, index, Number(value))
  else putDigits(words, index * 32, `0x${value.toString(16).padStart(64, '0')}`)
}

function putBytes32(words: Uint8Array, start: number, hex: Hex): void {
  if (hex.length !== 66 || !hex.startsWith('0x') || !putDigits(words, start, hex)) {
    throw new RangeError('a reference is 0x and 64 hex digits')
  }
}

function sizeOfBytes32Array(items: readonly Hex[]): number {
  return 32 + items.length * 32
}

function putBytes32Array(words: Uint8Array, start: number, items: readonly Hex[]): void {
  putUint(words, start / 32, items.length)
  for (let index = 0; index < items.length; index++) putBytes32(words, start + 32 + index * 32, items[index]!)
}

/** Length in bytes, then the bytes, filled up with zeros to whole words. */
function sizeOfBytes(bytes: Uint8Array): number {
  return 32 + Math.ceil(bytes.length / 32) * 32
}

function putBytes(words: Uint8Array, start: number, bytes: Uint8Array): void {
  putUint(words, start / 32, bytes.length)
  words.set(bytes, start + 32)
}
