/**
 * ABI data of results, as Solidity's `abi.encode(…)` of the fields in the order of `SCHEMA_STRINGS` makes it, without a leading
 * offset. Results of one kind at one time differ in their value and their references alone: only these are written anew, as
 * bytes and as the digits that stand in the answer.
 */
import { putDigits, putPairs, utf8 } from '../crypto/hex.ts'
import type { Hex } from '../messages.ts'
import { putBytes32, putUint } from './words.ts'

/** Views that hold until the next data is made. */
export interface ResultData {
  readonly bytes: Uint8Array
  /** Two lower-case hex digits for each byte, ASCII. */
  readonly digits: Uint8Array
}

interface Template extends ResultData {
  /** Of a numeric result. */
  readonly units: string | undefined
  readonly operation: string
  readonly timestampSeconds: number
  readonly refCount: number
  /** Where the references begin, behind their number. */
  readonly refsAt: number
  /** The digits, two an element. */
  readonly pairs: Uint16Array
}

/** What results differ in: operations with their radius, at one time. */
const MAX_TEMPLATES = 16
const templates: Template[] = []
let oldest = 0

/**
 * @param result centimetres or square centimetres, 0 … 2²⁵⁶−1
 * @param units `centimeters` or `square_centimeters`
 * @param inputRefs 32 bytes each
 * @throws {RangeError} on a value that does not fit its field: a bug of ours
 */
export function numericData(
  result: bigint,
  units: string,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): ResultData {
  const template = templateOf(units, inputRefs.length, timestampSeconds, operation)
  putUint256(template.bytes, result)
  return withRefs(template, inputRefs)
}

/** Parameters, result and errors as for `numericData`. */
export function booleanData(
  result: boolean,
  inputRefs: readonly Hex[],
  timestampSeconds: number,
  operation: string,
): ResultData {
  const template = templateOf(undefined, inputRefs.length, timestampSeconds, operation)
  template.bytes[31] = result ? 1 : 0
  return withRefs(template, inputRefs)
}

function templateOf(
  units: string | undefined,
  refCount: number,
  timestampSeconds: number,
  operation: string,
): Template {
  for (const known of templates) {
    const isSame = known.timestampSeconds === timestampSeconds && known.refCount === refCount && known.units === units
    if (isSame && known.operation === operation) return known
  }
  const template = makeTemplate(units, refCount, timestampSeconds, operation)
  templates[oldest] = template
  oldest = (oldest + 1) % MAX_TEMPLATES
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
  const listAt = headBytes + (unitsText === undefined ? 0 : sizeOfBytes(unitsText))
  const operationAt = listAt + 32 + refCount * 32
  const bytes = new Uint8Array(operationAt + sizeOfBytes(operationText))
  let word = 1
  if (unitsText !== undefined) {
    putUint(bytes, word++, headBytes)
    putBytes(bytes, headBytes, unitsText)
  }
  putUint(bytes, word++, listAt)
  putUint(bytes, word++, timestampSeconds)
  putUint(bytes, word, operationAt)
  putUint(bytes, listAt / 32, refCount)
  putBytes(bytes, operationAt, operationText)
  const pairs = new Uint16Array(bytes.length)
  const digits = new Uint8Array(pairs.buffer)
  putPairs(pairs, bytes, 0, bytes.length)
  return { units, operation, timestampSeconds, refCount, refsAt: listAt + 32, bytes, pairs, digits }
}

function withRefs(template: Template, inputRefs: readonly Hex[]): ResultData {
  const { bytes, pairs, refsAt, refCount } = template
  for (let index = 0; index < refCount; index++) putBytes32(bytes, refsAt / 32 + index, inputRefs[index]!)
  putPairs(pairs, bytes, 0, 32)
  putPairs(pairs, bytes, refsAt, refsAt + 32 * refCount)
  return template
}

function putUint256(bytes: Uint8Array, value: bigint): void {
  if (value < 0n || value >> 256n !== 0n) throw new RangeError('value does not fit uint256')
  bytes.fill(0, 0, 26)
  if (value < 2n ** 48n) putUint(bytes, 0, Number(value))
  else putDigits(bytes, 0, `0x${value.toString(16).padStart(64, '0')}`)
}

/** Length in bytes, then the bytes, filled up with zeros to whole words. */
function sizeOfBytes(bytes: Uint8Array): number {
  return 32 + Math.ceil(bytes.length / 32) * 32
}

function putBytes(words: Uint8Array, start: number, bytes: Uint8Array): void {
  putUint(words, start / 32, bytes.length)
  words.set(bytes, start + 32)
}
