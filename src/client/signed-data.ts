/** What attested data says: decoded, in plain words, and compared with the members of its answer. */
import { decodeBoolean, decodeMerkleRoot, decodeNumeric, decodeVerify } from '../attest/decode.ts'
import type { MerkleRootData, VerifyData } from '../attest/encode.ts'
import { OPERATIONS } from '../compute/operations.ts'
import type { Hex } from '../messages.ts'
import { fromScaledInteger } from '../units.ts'

export type DataKind = 'numeric' | 'boolean' | 'verify' | 'merkle-root'

/** A result as it was signed; the references lower case, times in seconds. */
export interface ResultData {
  readonly kind: 'numeric' | 'boolean'
  /** Centimetres or square centimetres, or a truth value. */
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

/** Strict reading; the encodings of the four kinds have no bytes in common. */
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

/** Radius in centimetres, as the service writes it: no sign, no leading zero. */
const WITHIN = /^within:([1-9]\d{0,11})$/

/** The row of the table and the radius that an operation's text names; undefined for any other text. */
export function operationOf(text: string) {
  const radius = WITHIN.exec(text)?.[1]
  if (radius !== undefined) return { row: OPERATIONS.within, radiusCm: BigInt(radius) }
  if (text === 'within' || !Object.hasOwn(OPERATIONS, text)) return undefined
  return { row: OPERATIONS[text as keyof typeof OPERATIONS], radiusCm: undefined }
}

/** Where the members of an answer say something else than the data that was signed. */
export function differencesOf(answer: Readonly<Record<string, unknown>>, data: ResultData): string[] {
  const operation = operationOf(data.operation)
  if (operation === undefined) return [`the signed operation ${JSON.stringify(data.operation)} is none`]
  const { row } = operation
  if (row.result.kind !== data.kind) return [`${row.name} has no ${data.kind} result`]
  const faults: string[] = []
  const compare = (name: string, told: unknown, signed: unknown) => {
    if (told !== signed) faults.push(`${name} is ${JSON.stringify(told)}, signed was ${JSON.stringify(signed)}`)
  }
  if (row.result.kind === 'numeric') {
    compare('units in the data', data.units, row.result.onchainUnits)
    compare('units', answer['units'], row.result.units)
    compare('result', answer['result'], fromScaledInteger(data.result as bigint, row.result.scale))
  } else {
    compare('units', answer['units'], undefined)
    compare('result', answer['result'], data.result)
  }
  compare('operation', answer['operation'], data.operation)
  compare('timestamp', answer['timestamp'], Number(data.timestampSeconds))
  const told = (answer['inputRefs'] as string[]).map((ref) => ref.toLowerCase())
  compare('inputRefs', told.join(), data.inputRefs.join())
  compare('number of inputs', data.inputRefs.length, row.inputs.length)
  return faults
}

/** What the data says, for people. */
export function statementOf(data: SignedData, recipient: string): string {
  const whom = /^0x0{40}$/.test(recipient) ? '' : `, for ${recipient}`
  switch (data.kind) {
    case 'merkle-root':
      return `${data.leafCount} results stand under the root ${data.merkleRoot}, computed ${timeText(data.timestampSeconds)}${whom}`
    case 'verify':
      return (
        `the evidence of ${data.stampCount} stamps lies ${data.meanDistanceMeters} m on average and at most ` +
        `${data.maxDistanceMeters} m from the claimed place, ${data.withinRadiusBp / 100} % within its radius; ` +
        `signatures of ${data.signaturesValidBp / 100} % are valid${whom}`
      )
    default:
      return `${resultText(data)}, computed ${timeText(data.timestampSeconds)}${whom}`
  }
}

function resultText({ result, units, operation, inputRefs }: ResultData): string {
  const [first, second] = inputRefs.map(shortRef)
  if (typeof result === 'bigint') {
    if (units === 'square_centimeters') return `the area of ${first} is ${decimalText(result, 4)} m²`
    const measured = inputRefs.length === 1 ? `the length of ${first}` : `the distance between ${first} and ${second}`
    return `${measured} is ${units === 'centimeters' ? `${decimalText(result, 2)} m` : `${result} ${units}`}`
  }
  const radiusCm = operationOf(operation)?.radiusCm
  const not = result ? '' : 'not '
  if (radiusCm !== undefined) return `${first} is ${not}within ${decimalText(radiusCm, 2)} m of ${second}`
  if (operation === 'contains') return `${first} ${result ? 'contains' : 'does not contain'} ${second}`
  return `${first} and ${second} ${result ? 'share' : 'do not share'} a place`
}

function shortRef(ref: string): string {
  return `${ref.slice(0, 10)}…`
}

/** Seconds since the epoch as ISO 8601; a number beyond what a date holds as itself. */
export function timeText(seconds: number | bigint): string {
  const ms = Number(seconds) * 1000
  return ms <= 8.64e15 ? new Date(ms).toISOString().replace('.000Z', 'Z') : `at ${seconds}`
}

/** `123456789` with two places → `1,234,567.89`. */
export function decimalText(integer: bigint, places: number): string {
  const digits = integer.toString().padStart(places + 1, '0')
  const whole = digits.slice(0, -places).replace(/\B(?=(?:\d{3})+$)/g, ',')
  return `${whole}.${digits.slice(-places)}`
}
