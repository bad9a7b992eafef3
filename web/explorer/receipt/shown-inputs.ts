import type { InputLike } from '../../../src/client/client.ts'
import { classifyInput, type InputForm, isObject } from '../../../src/client/forms.ts'
import { readSignedData } from '../../../src/client/verify/signed-data.ts'
import { checkShape } from '../../../src/geometry/check-shape.ts'
import type { Geometry } from '../../../src/types/generated.ts'

/** An input of a receipt that the map can show. */
export interface ShownInput {
  readonly letter: 'A' | 'B'
  readonly geometry: Geometry
}

/**
 * Returns the inputs that are geometries, without foreign members; for a verified proof, the location that it claims. All other
 * inputs are left out, whatever members they have: only their references are compared with what was signed.
 */
export function shownInputs(inputs: readonly InputLike[], response: Readonly<Record<string, unknown>>): ShownInput[] {
  const claim = (response['proof'] as { claim?: { location?: unknown } } | undefined)?.claim?.location
  const locations: readonly unknown[] = 'proof' in response ? [claim] : inputs.map(geometryOf)
  return locations.flatMap((location, index) => {
    const read = checkShape(location, true)
    return read.ok ? [{ letter: index === 0 ? 'A' : 'B', geometry: read.geometry } as const] : []
  })
}

const HIDDEN: Readonly<Record<InputForm['form'], string>> = {
  geometry: 'not shown, because it is too large for the map or not a geometry',
  attestation: 'not shown, because it is an off-chain attestation',
  uid: 'not shown, because the receipt has only its UID',
  stored: 'not shown, because the receipt has only its hash',
  proof: 'not shown, because it is a verified proof',
}

/** Says why an input is not on the map. */
export function hiddenText(input: InputLike): string {
  return HIDDEN[formOf(input)?.form ?? 'geometry']
}

/** Returns the operation that an answer states, or of a bare attestation the one in its data; undefined if there is none. */
export function operationOf(response: Readonly<Record<string, unknown>>): string | undefined {
  const { operation, attestation } = response
  if (typeof operation === 'string') return operation
  const data = isObject(attestation) ? attestation['data'] : undefined
  if (typeof data !== 'string') return undefined
  for (const kind of ['numeric', 'boolean'] as const) {
    const read = readSignedData(kind, data)
    if (read.ok && 'operation' in read.value) return read.value.operation
  }
  return undefined
}

function geometryOf(input: InputLike): unknown {
  const found = formOf(input)
  return found?.form === 'geometry' ? found.geometry : undefined
}

/** Returns the form of an input; undefined if it is none. */
function formOf(input: InputLike): InputForm | undefined {
  try {
    return classifyInput(input)
  } catch {
    return undefined
  }
}
