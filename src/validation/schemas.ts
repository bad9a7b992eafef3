import type { ErrorObject } from 'ajv'
import { VALIDATORS } from './generated.ts'

/** The compiled validator of one schema. After it returned false, `errors` holds the first violation. */
export type Validator = ((value: unknown) => boolean) & { errors?: ErrorObject[] | null }

const validators: Readonly<Record<string, Validator>> = VALIDATORS

/**
 * Returns the validator of one schema. `scripts/generate-validators.mjs` has compiled it.
 *
 * @param reference e.g. `geometry.schema.json#/$defs/Polygon`
 */
export function getValidator(reference: string): Validator {
  const validator = validators[reference]
  if (validator === undefined) throw new RangeError(`no schema ${reference}`)
  return validator
}
