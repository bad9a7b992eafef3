import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js'
import batchRequest from '../../schemas/batch-request.schema.json' with { type: 'json' }
import computeRequest from '../../schemas/compute-request.schema.json' with { type: 'json' }
import geometry from '../../schemas/geometry.schema.json' with { type: 'json' }
import input from '../../schemas/input.schema.json' with { type: 'json' }
import resignRequest from '../../schemas/resign-request.schema.json' with { type: 'json' }
import verifiedProof from '../../schemas/verified-proof.schema.json' with { type: 'json' }
import verifyRequest from '../../schemas/verify-request.schema.json' with { type: 'json' }

/** The compiled validator of one schema. After it returned false, `errors` holds the first violation. */
export type Validator = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null }

/**
 * Creates an ajv instance with the published schemas. It stops at the first error, because a 10,000-vertex polygon with swapped
 * coordinates would give 10,000 errors and take half a second.
 *
 * `input.schema.json` accepts everything here, because its `anyOf` of eleven forms gives thirty-five errors for one mistake.
 * Instead, `input.ts` recognises the form by the member that is present and checks only the schema of that form.
 */
function createAjv(): Ajv2020 {
  const ajv = new Ajv2020({
    allErrors: false,
    strict: true,
    strictTypes: false,
    allowUnionTypes: true,
    strictTuples: false,
    verbose: true,
    // `test/unit/openapi.test.ts` checks the schemas. Compiling the schema of schemas takes 0.1 s, here and in every compute thread.
    validateSchema: false,
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
 * Returns the validator of one schema. It is compiled on first use, so that importing this file costs nothing.
 *
 * @param reference e.g. `geometry.schema.json#/$defs/Polygon`
 */
export function getValidator(reference: string): Validator {
  let validator = compiled.get(reference)
  if (validator === undefined) {
    ajv ??= createAjv()
    const compiledSchema = ajv.getSchema(reference)
    if (compiledSchema === undefined) throw new RangeError(`no schema ${reference}`)
    validator = compiledSchema as Validator
    compiled.set(reference, validator)
  }
  return validator
}
