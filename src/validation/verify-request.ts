import { type ProblemType, problemAt } from '../base/problem.ts'
import type { Geometry, ResignRequest, VerifyProofRequest, VerifyStampRequest } from '../types/generated.ts'
import { checkGeometry } from './input.ts'
import { isJsonObject, type JsonObject } from './json-body.ts'
import { rejectMisplacedInProof } from './misplaced-members.ts'
import { getValidator } from './schemas.ts'
import { check, type Path } from './sentences.ts'

/** Maximum number of stamps of a proof. The number is attested as uint8, and every pair of stamps is compared (decision 27). */
const MAX_STAMPS = 64
/** Maximum number of signatures of a stamp, and maximum size of its signals as JSON (decision 106). */
const MAX_SIGNATURES = 16
const MAX_SIGNALS_BYTES = 65_536

/**
 * Validates the body of a request to verify one stamp.
 *
 * @param body parsed JSON; the stamp is returned unchanged, because its signatures also cover unknown members
 * @throws {ProblemError} `validation` for unreadable members or evidence beyond the limits, otherwise `invalid-input`
 */
export function readStampRequest(body: JsonObject, maxCollectionDepth: number): VerifyStampRequest {
  checkStampRules(body['stamp'], ['stamp'])
  check(getValidator('verify-request.schema.json#/$defs/VerifyStampRequest'), body, [])
  const request = body as unknown as VerifyStampRequest
  checkLocation(request.stamp.location, ['stamp', 'location'], maxCollectionDepth)
  return request
}

/**
 * Validates the body of a request to verify a proof.
 *
 * @param body parsed JSON; the proof is returned unchanged
 * @throws {ProblemError} `validation` for an invalid claim (decision 33) or evidence beyond the limits, otherwise
 *   `invalid-input`
 */
export function readProofRequest(body: JsonObject, maxCollectionDepth: number): VerifyProofRequest {
  const { proof } = body
  if (isJsonObject(proof)) {
    checkStamps(proof['stamps'])
    checkClaimRules(proof['claim'])
  }
  check(getValidator('verify-request.schema.json#/$defs/VerifyProofRequest'), body, [])
  rejectMisplacedInProof(body)
  const request = body as unknown as VerifyProofRequest
  const { claim, stamps } = request.proof
  if (claim.time.end < claim.time.start) {
    throw problemAt('validation', ['proof', 'claim', 'time', 'end'], 'must not be before time.start', {
      code: 'time-order',
    })
  }
  checkLocation(claim.location, ['proof', 'claim', 'location'], maxCollectionDepth)
  stamps.forEach(({ location }, index) => {
    checkLocation(location, ['proof', 'stamps', index, 'location'], maxCollectionDepth)
  })
  if (request.options?.submitOnchain === true && request.options.chainId === undefined) {
    throw problemAt('validation', ['options', 'chainId'], 'is missing: submitOnchain needs it', {
      code: 'missing-chain',
    })
  }
  return request
}

/** Checks a GeoJSON location. A location as text is checked when it is parsed. */
function checkLocation(location: Geometry | string, path: Path, maxCollectionDepth: number): void {
  if (typeof location !== 'string') checkGeometry(location, path, maxCollectionDepth)
}

function checkStamps(stamps: unknown): void {
  const path = ['proof', 'stamps']
  if (!Array.isArray(stamps)) return
  if (stamps.length === 0) throw problemAt('validation', path, 'needs at least one stamp', { code: 'no-stamps' })
  if (stamps.length > MAX_STAMPS) throw tooMany(path, `has ${stamps.length} stamps`, `at most ${MAX_STAMPS}`)
  stamps.forEach((stamp, index) => {
    checkStampRules(stamp, [...path, index])
  })
}

/** Checks the limits on work and the members that must be readable (decision 129). The request schema checks the shape later. */
function checkStampRules(stamp: unknown, path: Path): void {
  if (!isJsonObject(stamp)) return
  const { signatures, signals } = stamp
  if (Array.isArray(signatures) && signatures.length > MAX_SIGNATURES) {
    throw tooMany([...path, 'signatures'], `has ${signatures.length} signatures`, `at most ${MAX_SIGNATURES}`)
  }
  check(getValidator('verify-request.schema.json#/$defs/StampRules'), stamp, path, 'validation')
  const bytes = signals === undefined ? 0 : Buffer.byteLength(JSON.stringify(signals), 'utf8')
  if (bytes > MAX_SIGNALS_BYTES) {
    throw tooMany([...path, 'signals'], `is ${bytes} bytes of JSON`, `at most ${MAX_SIGNALS_BYTES} bytes`)
  }
}

function checkClaimRules(claim: unknown): void {
  if (!isJsonObject(claim)) return
  const type: ProblemType = 'validation'
  check(getValidator('verify-request.schema.json#/$defs/ClaimRules'), claim, ['proof', 'claim'], type)
}

function tooMany(path: Path, detail: string, hint: string) {
  return problemAt('validation', path, detail, { code: 'evidence-limit', hint })
}

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
