/**
 * ABI data of results: Solidity's `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS`, without a leading offset.
 * Results of one operation in the same second differ only in value and references. So the data is made from a cached template,
 * and only those fields are written again, as bytes and as the hex digits for the response.
 */
import { putDigits, putPairs, utf8 } from '../crypto/hex.ts'
import type { Hex } from '../wire/values.ts'
import { putBytes32, putUint } from './abi.ts'

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
  /** Offset of the first reference, after their count. */
  readonly refsOffset: number
  /** A view of `digits`, two characters per element. */
  readonly pairs: Uint16Array
}

/** One template per combination of operation (with radius), second, units and number of references. */
const MAX_TEMPLATES = 16
const templates: Template[] = []
let oldestIndex = 0

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
  templates[oldestIndex] = template
  oldestIndex = (oldestIndex + 1) % MAX_TEMPLATES
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
