/**
 * The data that is attested: Solidity's `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS`, without a leading offset.
 * This encoder takes 1 µs and a general one 7 µs. Decoding is strict.
 *
 * Results of one operation in the same second differ only in value and input references. So their data is made from a cached
 * template, and only those fields are written again, as bytes and as the hex digits for the response.
 */

import type { LocationLayout } from '../config/signer.ts'
import { bytesToHex, putDigits, putPairs, utf8 } from '../crypto/hex.ts'
import type { Hex } from '../wire/values.ts'
import { type Decoded, putBytes32, putUint, readAbi } from './abi.ts'

/** Views of a shared buffer: valid until the next call of `numericData` or `booleanData`. */
export interface ResultData {
  readonly bytes: Uint8Array
  /** Two lower-case hex digits for each byte, ASCII. */
  readonly digits: Uint8Array
}

interface Template extends ResultData {
  /** undefined for a boolean result. */
  readonly units: string | undefined
  readonly operation: string
  readonly timestampSeconds: number
  readonly refCount: number
  /** Byte offset of the first input reference. The word before it is their number. */
  readonly refsOffset: number
  /** A view of `digits`, two characters per element. */
  readonly pairs: Uint16Array
}

/** One template per combination of operation (with radius), second, units and number of references. */
const MAX_TEMPLATES = 16
const templates: Template[] = []
let nextReplaced = 0

/**
 * Encodes a numeric result.
 *
 * @param result centimetres or square centimetres, 0 … 2²⁵⁶−1
 * @param units `centimeters` or `square_centimeters`
 * @param inputRefs 32 bytes each
 * @throws {RangeError} on a value that does not fit its field, which is a bug of ours
 */
export function numericData(
  result: bigint,
  units: string,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): ResultData {
  const template = findTemplate(units, inputRefs.length, timestampSeconds, operation)
  putUint256(template.bytes, result)
  return withRefs(template, inputRefs)
}

/** Encodes a boolean result; parameters, return value and errors as for `numericData`. */
export function booleanData(
  result: boolean,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): ResultData {
  const template = findTemplate(undefined, inputRefs.length, timestampSeconds, operation)
  template.bytes[31] = result ? 1 : 0
  return withRefs(template, inputRefs)
}

function findTemplate(
  units: string | undefined,
  refCount: number,
  timestampSeconds: number,
  operation: string,
): Template {
  for (const template of templates) {
    const isSame =
      template.timestampSeconds === timestampSeconds && template.refCount === refCount && template.units === units
    if (isSame && template.operation === operation) return template
  }
  const template = makeTemplate(units, refCount, timestampSeconds, operation)
  templates[nextReplaced] = template
  nextReplaced = (nextReplaced + 1) % MAX_TEMPLATES
  return template
}

function makeTemplate(
  units: string | undefined,
  refCount: number,
  timestampSeconds: number,
  operation: string,
): Template {
  const operationText = utf8(operation)
  const unitsText = units === undefined ? undefined : utf8(units)
  const headBytes = unitsText === undefined ? 4 * 32 : 5 * 32
  const listOffset = headBytes + (unitsText === undefined ? 0 : encodedSize(unitsText))
  const operationOffset = listOffset + 32 + refCount * 32
  const bytes = new Uint8Array(operationOffset + encodedSize(operationText))
  let word = 1
  if (unitsText !== undefined) {
    putUint(bytes, word++, headBytes)
    putBytes(bytes, headBytes, unitsText)
  }
  putUint(bytes, word++, listOffset)
  putUint(bytes, word++, timestampSeconds)
  putUint(bytes, word, operationOffset)
  putUint(bytes, listOffset / 32, refCount)
  putBytes(bytes, operationOffset, operationText)
  const pairs = new Uint16Array(bytes.length)
  const digits = new Uint8Array(pairs.buffer)
  putPairs(pairs, bytes, 0, bytes.length)
  return { units, operation, timestampSeconds, refCount, refsOffset: listOffset + 32, bytes, pairs, digits }
}

function withRefs(template: Template, inputRefs: readonly Hex[]): ResultData {
  const { bytes, pairs, refsOffset, refCount } = template
  for (let index = 0; index < refCount; index++) putBytes32(bytes, refsOffset / 32 + index, inputRefs[index]!)
  putPairs(pairs, bytes, 0, 32)
  putPairs(pairs, bytes, refsOffset, refsOffset + 32 * refCount)
  return template
}

function putUint256(bytes: Uint8Array, value: bigint): void {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError('value does not fit uint256')
  bytes.fill(0, 0, 26)
  if (value < 2n ** 48n) putUint(bytes, 0, Number(value))
  else putDigits(bytes, 0, `0x${value.toString(16).padStart(64, '0')}`)
}

/** Returns the encoded size of dynamic bytes: a word for the length, then the bytes padded to whole words. */
function encodedSize(bytes: Uint8Array): number {
  return 32 + Math.ceil(bytes.length / 32) * 32
}

function putBytes(words: Uint8Array, start: number, bytes: Uint8Array): void {
  putUint(words, start / 32, bytes.length)
  words.set(bytes, start + 32)
}

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

/** The content of `merkle-root` data. Attesting it attests every leaf under the root (decision 103). */
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

interface NumericData {
  readonly result: bigint
  readonly units: string
  readonly inputRefs: readonly Hex[]
  readonly timestampSeconds: bigint
  readonly operation: string
}

interface BooleanData {
  readonly result: boolean
  readonly inputRefs: readonly Hex[]
  readonly timestampSeconds: bigint
  readonly operation: string
}

/** A location attestation (Location Protocol 0.2). */
interface LocationData {
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
 * @param layout of the attestation's schema; members that this layout lacks are returned empty
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
