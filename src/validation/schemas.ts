import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import batchRequest from '../../schemas/batch-request.schema.json' with { type: 'json' }
import computeRequest from '../../schemas/compute-request.schema.json' with { type: 'json' }
import geometry from '../../schemas/geometry.schema.json' with { type: 'json' }
import input from '../../schemas/input.schema.json' with { type: 'json' }
import resignRequest from '../../schemas/resign-request.schema.json' with { type: 'json' }
import verifiedProof from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifyRequest from '../../schemas/verify-request.schema.json' with { type: 'json' }

/** Compiled check of one schema; `errors` holds the first violation after a `false`. */
export type Validator = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null }

/**
 * The published schemas as one ajv instance that stops at the first error: all of them, on a 10,000-vertex polygon
 * with swapped coordinates, are 10,000 errors and half a second.
 *
 * `input.schema.json` is left open here. Its `anyOf` of eleven forms gives thirty-five errors for one mistake; the form
 * is told by the member that is present instead, and the schema of that form alone is asked (`input.ts`).
 */
function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: false,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    strictTuples: false,
    verbose: true,
  })
  ajv.addKeyword('tsType')
  ajv.addSchema({ $id: 'input.schema.json' })
  ajv.addSchema({ $id: 'input-forms', $defs: { OnchainInput: input.$defs.OnchainInput } })
  ajv.addSchema(geometry)
  ajv.addSchema(computeRequest)
  ajv.addSchema(verifiedProof)
  ajv.addSchema(resignRequest)
  ajv.addSchema(batchRequest)
  ajv.addSchema(verifyRequest)
  return ajv
}

let ajv: Ajv2020 | undefined
const compiled = new Map<string, Validator>()

/**
 * The validator of one schema, compiled at first use and kept: importing this file costs nothing.
 *
 * @param reference e.g. `geometry.schema.json#/$defs/Polygon`
 */
export function validatorOf(reference: string): Validator {
  let validator = compiled.get(reference)
  if (validator === undefined) {
    ajv ??= createAjv()
    const found = ajv.getSchema(reference)
    if (found === undefined) throw new RangeError(`no schema ${reference}`)
    validator = found as Validator
    compiled.set(reference, validator)
  }
  return validator
}
