import type { ResignRequest } from '../types/generated.ts'
import type { JsonObject } from './json-body.ts'
import { validatorOf } from './schemas.ts'
import { check } from './sentences.ts'

/**
 * Checks the body of a request to sign again.
 *
 * @param body parsed JSON
 * @throws {ProblemError} `invalid-input`, at the first place that is wrong
 */
export function readResignRequest(body: JsonObject): ResignRequest {
  check(validatorOf('resign-request.schema.json'), body, [])
  return body as unknown as ResignRequest
}
