import { utf8 } from '../crypto/hex.ts'
import type { Keccak } from '../crypto/keccak.ts'
import { canonicalBytes, canonicalGeometry } from '../geometry/canonical.ts'
import { checkShape } from '../geometry/check-shape.ts'
import type { Hex } from '../messages.ts'
import type { Geometry } from '../types/generated.ts'
import { formOf, type InputLike } from './inputs.ts'
import { decimalText, operationOf, type ResultData } from './signed-data.ts'
import type { CheckList } from './verdict.ts'
import type { Recompute } from './verify-options.ts'

interface FoundInput {
  readonly ref: string
  /** Absent for a UID, whose geometry stands on its chain, and for a proof about a place in another notation than GeoJSON. */
  readonly geometry: Geometry | undefined
}

/** Whether the references that were signed are those of these inputs, and what the operation gives on them. */
export function checkInputs(
  data: ResultData,
  inputs: readonly InputLike[] | undefined,
  recompute: Recompute | undefined,
  keccak: Keccak,
  list: CheckList,
): void {
  if (inputs === undefined) {
    list.skip('inputs', 'the inputs were not given: what the references stand for is not known')
    return
  }
  const found: FoundInput[] = []
  const faults: string[] = []
  for (const [index, input] of inputs.entries()) {
    const read = readInput(input, keccak)
    if (typeof read === 'string') faults.push(`input ${index + 1} ${read}`)
    else found.push(read)
  }
  if (inputs.length !== data.inputRefs.length) {
    faults.push(`${inputs.length} inputs were given, ${data.inputRefs.length} signed`)
  } else if (faults.length === 0) {
    for (const [index, { ref }] of found.entries()) {
      const signed = data.inputRefs[index]
      if (ref !== signed) faults.push(`input ${index + 1} has the reference ${ref}, signed was ${signed}`)
    }
  }
  if (!list.judge('inputs', faults, 'the references are those of the inputs given')) return
  if (recompute !== undefined) checkResult(data, found, recompute, list)
}

function checkResult(data: ResultData, inputs: readonly FoundInput[], recompute: Recompute, list: CheckList): void {
  const geometries = inputs.flatMap(({ geometry }) => (geometry === undefined ? [] : [geometry]))
  if (geometries.length < inputs.length) {
    list.skip(
      'recomputed',
      'an input is a UID, or a proof whose location is no GeoJSON: its geometry is not known here',
    )
    return
  }
  const outcome = recompute(data.operation, geometries)
  if (!outcome.ok) list.fail('recomputed', `the inputs are refused: ${outcome.reason}`)
  else if (outcome.result === data.result) list.pass('recomputed', `gives ${resultText(data, outcome.result)} again`)
  else {
    const gives = resultText(data, outcome.result)
    list.fail('recomputed', `gives ${gives}, signed was ${resultText(data, data.result)}`)
  }
}

function resultText({ operation }: ResultData, result: bigint | boolean): string {
  if (typeof result === 'boolean') return String(result)
  return operationOf(operation)?.row.name === 'area' ? `${decimalText(result, 4)} m²` : `${decimalText(result, 2)} m`
}

/** @returns why it is none, when it is none */
function readInput(given: InputLike, keccak: Keccak): FoundInput | string {
  let input: ReturnType<typeof formOf>
  try {
    input = formOf(given)
  } catch (error) {
    return (error as Error).message
  }
  if (input.form === 'uid') return { ref: input.uid.toLowerCase(), geometry: undefined }
  if (input.form === 'geometry') {
    const shaped = checkShape(input.geometry)
    if (!shaped.ok) return shaped.reason
    return { ref: keccak.hashHex(utf8(canonicalGeometry(shaped.geometry))), geometry: shaped.geometry }
  }
  const { attestation, proof } = input.verifiedProof
  const location = proof?.claim?.location
  const shaped = typeof location === 'string' ? undefined : checkShape(location)
  if (shaped?.ok === false) return shaped.reason
  const ref = attestation === undefined ? hashOfJson(proof, keccak) : attestation.uid?.toLowerCase()
  return ref === undefined ? 'has no canonical form' : { ref, geometry: shaped?.geometry }
}

/** keccak-256 of the canonical JSON (RFC 8785); undefined for what has none. */
export function hashOfJson(value: unknown, keccak: Keccak): Hex | undefined {
  try {
    return keccak.hashHex(canonicalBytes(value))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
