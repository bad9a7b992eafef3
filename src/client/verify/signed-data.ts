/** Attested data: decoded, described in words, and compared with the members of its response. */

import {
  decodeBoolean,
  decodeMerkleRoot,
  decodeNumeric,
  decodeVerify,
  type MerkleRootData,
  type VerifyData,
} from '../../attest/data.ts'
import { fromScaledInteger } from '../../base/units.ts'
import { OPERATIONS, type OperationRow } from '../../compute/operations.ts'
import type { Hex } from '../../wire/values.ts'

export type DataKind = 'numeric' | 'boolean' | 'verify' | 'merkle-root'

/** A result as it was signed; references in lower case. */
export interface ResultData {
  readonly kind: 'numeric' | 'boolean'
  /** Centimetres, square centimetres or a boolean. */
  readonly result: bigint | boolean
  readonly units: string | undefined
  readonly operation: string
  readonly inputRefs: readonly Hex[]
  readonly timestampSeconds: bigint
}

export type SignedData =
  | ResultData
  | ({ readonly kind: 'verify' } & VerifyData)
  | ({ readonly kind: 'merkle-root' } & MerkleRootData)

export type ReadData =
  | { readonly ok: true; readonly value: SignedData }
  | { readonly ok: false; readonly reason: string }

/** Decodes data strictly. No bytes are a valid encoding of more than one of the four kinds. */
export function readSignedData(kind: DataKind, data: string): ReadData {
  switch (kind) {
    case 'numeric': {
      const read = decodeNumeric(data as Hex)
      return read.ok ? { ok: true, value: { kind, ...read.value } } : read
    }
    case 'boolean': {
      const read = decodeBoolean(data as Hex)
      return read.ok ? { ok: true, value: { kind, units: undefined, ...read.value } } : read
    }
    case 'verify': {
      const read = decodeVerify(data as Hex)
      return read.ok ? { ok: true, value: { kind, ...read.value } } : read
    }
    case 'merkle-root': {
      const read = decodeMerkleRoot(data as Hex)
      return read.ok ? { ok: true, value: { kind, ...read.value } } : read
    }
  }
}

/** `within` with its radius in centimetres, as the service writes it: no sign, no leading zero. */
const WITHIN = /^within:([1-9]\d{0,11})$/

/** `relate` with its pattern. */
const RELATE = /^relate:([TF*012]{9})$/

/** A predicate on geodesic edges. */
const GEODESIC = /^(contains|intersects):geodesic$/

interface ParsedOperation {
  readonly row: OperationRow
  readonly radiusCm?: bigint
  readonly pattern?: string
  readonly edges?: 'geodesic'
}

/** Parses the signed text of an operation into its row of the table, its radius, pattern and edges; undefined for any other text. */
export function parseOperation(text: string): ParsedOperation | undefined {
  const radius = WITHIN.exec(text)?.[1]
  if (radius !== undefined) return { row: OPERATIONS.within, radiusCm: BigInt(radius) }
  const pattern = RELATE.exec(text)?.[1]
  if (pattern !== undefined) return { row: OPERATIONS.relate, pattern }
  const onGeodesics = GEODESIC.exec(text)?.[1]
  if (onGeodesics !== undefined) return { row: OPERATIONS[onGeodesics as 'contains' | 'intersects'], edges: 'geodesic' }
  // Matrices and geometries are not signed.
  if (text === 'within' || text === 'relate' || !Object.hasOwn(OPERATIONS, text)) return undefined
  const row = OPERATIONS[text as keyof typeof OPERATIONS]
  return row.result.kind === 'geometry' ? undefined : { row }
}

/** Lists the members of a response that differ from the signed data. */
export function findDifferences(response: Readonly<Record<string, unknown>>, data: ResultData): string[] {
  const operation = parseOperation(data.operation)
  if (operation === undefined) return [`the signed operation ${JSON.stringify(data.operation)} is not an operation`]
  const { row } = operation
  if (row.result.kind !== data.kind) return [`${row.name} has no ${data.kind} result`]
  const faults: string[] = []
  const compare = (name: string, stated: unknown, signed: unknown) => {
    if (stated !== signed) faults.push(`${name} is ${JSON.stringify(stated)}, but ${JSON.stringify(signed)} was signed`)
  }
  if (row.result.kind === 'numeric') {
    compare('units in the data', data.units, row.result.onchainUnits)
    compare('units', response['units'], row.result.units)
    compare('result', response['result'], fromScaledInteger(data.result as bigint, row.result.scale))
  } else {
    compare('units', response['units'], undefined)
    compare('result', response['result'], data.result)
  }
  compare('operation', response['operation'], data.operation)
  compare('timestamp', response['timestamp'], Number(data.timestampSeconds))
  const inputRefs = (response['inputRefs'] as string[]).map((ref) => ref.toLowerCase())
  compare('inputRefs', inputRefs.join(), data.inputRefs.join())
  compare('number of inputs', data.inputRefs.length, row.inputs.length)
  return faults
}

/** Describes the data in a sentence for people. */
export function describeData(data: SignedData, recipient: string): string {
  const suffix = /^0x0{40}$/.test(recipient) ? '' : `, for ${recipient}`
  switch (data.kind) {
    case 'merkle-root':
      return `${data.leafCount} results are under the root ${data.merkleRoot}, computed ${timeText(data.timestampSeconds)}${suffix}`
    case 'verify':
      return (
        `${data.stampCount} stamps are ${data.meanDistanceMeters} m on average and at most ` +
        `${data.maxDistanceMeters} m from the claimed location, ${data.withinRadiusBp / 100} % within its radius; ` +
        `${data.signaturesValidBp / 100} % have valid signatures${suffix}`
      )
    default:
      return `${resultText(data)}, computed ${timeText(data.timestampSeconds)}${suffix}`
  }
}

function resultText({ result, units, operation, inputRefs }: ResultData): string {
  const [first, second] = inputRefs.map(shortRef)
  if (typeof result === 'bigint') {
    if (units === 'square_centimeters') return `the area of ${first} is ${decimalText(result, 4)} m²`
    const measured = inputRefs.length === 1 ? `the length of ${first}` : `the distance between ${first} and ${second}`
    return `${measured} is ${units === 'centimeters' ? `${decimalText(result, 2)} m` : `${result} ${units}`}`
  }
  const { row, radiusCm, pattern, edges } = parseOperation(operation) ?? {}
  const not = result ? '' : 'not '
  if (radiusCm !== undefined) return `${first} is ${not}within ${decimalText(radiusCm, 2)} m of ${second}`
  if (pattern !== undefined)
    return `the matrix of ${first} and ${second} ${result ? 'matches' : 'does not match'} ${pattern}`
  const sentence = SENTENCES[row?.name ?? '']?.(first!, second!, result)
  if (sentence === undefined) return `${operation} of ${first} and ${second} is ${result}`
  return edges === undefined ? sentence : `${sentence}, with geodesic edges`
}

/** A predicate of two geometries in words. */
type Sentence = (first: string, second: string, result: boolean) => string

const verb =
  (holds: string, otherwise: string): Sentence =>
  (first, second, result) =>
    `${first} ${result ? holds : otherwise} ${second}`

const SENTENCES: Readonly<Record<string, Sentence>> = {
  contains: verb('contains', 'does not contain'),
  intersects: (first, second, result) => `${first} and ${second} ${result ? 'intersect' : 'do not intersect'}`,
  equals: verb('equals', 'does not equal'),
  disjoint: (first, second, result) => `${first} and ${second} are ${result ? '' : 'not '}disjoint`,
  touches: verb('touches', 'does not touch'),
  crosses: verb('crosses', 'does not cross'),
  overlaps: verb('overlaps', 'does not overlap'),
  covers: verb('covers', 'does not cover'),
  coveredBy: verb('is covered by', 'is not covered by'),
}

function shortRef(ref: string): string {
  return `${ref.slice(0, 10)}…`
}

/** Formats Unix seconds as ISO 8601; a number beyond the range of dates stays a number. */
export function timeText(seconds: number | bigint): string {
  const ms = Number(seconds) * 1000
  return ms <= 8.64e15 ? new Date(ms).toISOString().replace('.000Z', 'Z') : `at ${seconds}`
}

/** Formats a scaled integer: `123456789` with two decimals → `1,234,567.89`. */
export function decimalText(integer: bigint, decimals: number): string {
  const digits = integer.toString().padStart(decimals + 1, '0')
  const whole = digits.slice(0, -decimals).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${whole}.${digits.slice(-decimals)}`
}
