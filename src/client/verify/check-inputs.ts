import { canonicalBytes, canonicalGeometry } from '../../crypto/canonical.ts'
import { utf8 } from '../../crypto/hex.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import { checkShape } from '../../geometry/check-shape.ts'
import type { Geometry } from '../../types/generated.ts'
import type { Hex } from '../../wire/values.ts'
import { classifyInput, type InputLike } from '../forms.ts'
import { decimalText, parseOperation, type ResultData } from './signed-data.ts'
import type { CheckList, Recompute } from './verdict.ts'

interface ResolvedInput {
  readonly ref: string
  /** undefined for a UID, whose geometry is on its chain, and for a proof whose location is not GeoJSON. */
  readonly geometry: Geometry | undefined
}

/**
 * Checks that the signed references are those of these inputs: adds `inputs`. With `recompute`, also checks that the operation
 * gives the signed result on them: adds `recomputed`.
 */
export function checkInputs(
  data: ResultData,
  inputs: readonly InputLike[] | undefined,
  recompute: Recompute | undefined,
  keccak: Keccak,
  list: CheckList,
): void {
  if (inputs === undefined) {
    list.skip('inputs', 'no inputs were given, so the references were not compared')
    return
  }
  const resolved: ResolvedInput[] = []
  const faults: string[] = []
  for (const [index, input] of inputs.entries()) {
    const read = readInput(input, keccak)
    if (typeof read === 'string') faults.push(`input ${index + 1} ${read}`)
    else resolved.push(read)
  }
  if (inputs.length !== data.inputRefs.length) {
    faults.push(`${inputs.length} inputs were given, but ${data.inputRefs.length} were signed`)
  } else if (faults.length === 0) {
    for (const [index, { ref }] of resolved.entries()) {
      const signed = data.inputRefs[index]
      if (ref !== signed) faults.push(`input ${index + 1} has the reference ${ref}, but ${signed} was signed`)
    }
  }
  if (!list.judge('inputs', faults, 'the references match the given inputs')) return
  if (recompute !== undefined) checkResult(data, resolved, recompute, list)
}

function checkResult(data: ResultData, inputs: readonly ResolvedInput[], recompute: Recompute, list: CheckList): void {
  const geometries = inputs.flatMap(({ geometry }) => (geometry === undefined ? [] : [geometry]))
  if (geometries.length < inputs.length) {
    list.skip(
      'recomputed',
      'an input is a UID, or a proof whose location is not GeoJSON: its geometry is not known here',
    )
    return
  }
  const outcome = recompute(data.operation, geometries)
  if (!outcome.ok) list.fail('recomputed', `the inputs are rejected: ${outcome.reason}`)
  else if (outcome.result === data.result) list.pass('recomputed', `gives ${resultText(data, outcome.result)} again`)
  else {
    const recomputed = resultText(data, outcome.result)
    list.fail('recomputed', `gives ${recomputed}, but ${resultText(data, data.result)} was signed`)
  }
}

function resultText({ operation }: ResultData, result: bigint | boolean): string {
  if (typeof result === 'boolean') return String(result)
  return parseOperation(operation)?.row.name === 'area' ? `${decimalText(result, 4)} m²` : `${decimalText(result, 2)} m`
}

/** Computes the reference of an input. @returns a string that says what is wrong, for an invalid input */
function readInput(given: InputLike, keccak: Keccak): ResolvedInput | string {
  let input: ReturnType<typeof classifyInput>
  try {
    input = classifyInput(given)
  } catch (error) {
    return (error as Error).message
  }
  if (input.form === 'uid') return { ref: input.uid.toLowerCase(), geometry: undefined }
  if (input.form === 'geometry') {
    const shaped = checkShape(input.geometry, true)
    if (!shaped.ok) return shaped.reason
    return { ref: keccak.hashHex(utf8(canonicalGeometry(shaped.geometry))), geometry: shaped.geometry }
  }
  const { attestation, proof } = input.verifiedProof
  const location = proof?.claim?.location
  const shaped = typeof location === 'string' ? undefined : checkShape(location)
  if (shaped?.ok === false) return shaped.reason
  const ref = attestation === undefined ? hashCanonicalJson(proof, keccak) : attestation.uid?.toLowerCase()
  return ref === undefined ? 'has no canonical form' : { ref, geometry: shaped?.geometry }
}

/** Computes the keccak-256 of the canonical JSON (RFC 8785); undefined for a value that has no canonical form. */
export function hashCanonicalJson(value: unknown, keccak: Keccak): Hex | undefined {
  try {
    return keccak.hashHex(canonicalBytes(value))
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}
