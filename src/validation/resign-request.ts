import type { ResignRequest } from '../types/generated.ts'
import type { JsonObject } from './json-body.ts'
import { getValidator } from './schemas.ts'
import { check } from './sentences.ts'

/**
 * Validates the body of a request to sign a result again.
 *
 * @param body parsed JSON
 * @throws {ProblemError} `invalid-input` for the first error
 */
export function readResignRequest(body: JsonObject): ResignRequest {
  check(getValidator('resign-request.schema.json'), body, [])
  return body as unknown as ResignRequest
}
