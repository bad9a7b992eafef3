import { type ProblemData, ProblemError, problemAt } from '../base/problem.ts'
import type { AttestationPayload, ResultPayload } from '../wire/signing-messages.ts'
import { type PayloadRecord, packPayload, readPayload } from '../wire/signing-records.ts'
import type { AttestationKind } from '../wire/values.ts'
import type { Decoded } from './abi.ts'
import { checkBoolean, checkNumeric, decodeMerkleRoot, decodeVerify } from './decode.ts'
import type { SchemaKind } from './schemas.ts'

/** A payload that may be signed, or the problem with it. */
export type CheckedPayload = PayloadRecord | ProblemData

/** Checks payloads in the signer thread, next to the key. The main thread has already checked what clients sent. */
export interface PayloadCheck {
  /** @param bytes as `putPayload` writes them */
  record(bytes: Uint8Array): CheckedPayload
  payload(payload: AttestationPayload | ResultPayload): CheckedPayload
  /** @returns all payloads, or the problem of the first payload that has one */
  payloads(payloads: readonly AttestationPayload[]): PayloadRecord[] | ProblemData
}

const CHECKS: Readonly<Record<AttestationKind, (data: Uint8Array) => Decoded<unknown>>> = {
  numeric: checkNumeric,
  boolean: checkBoolean,
  verify: decodeVerify,
  'merkle-root': decodeMerkleRoot,
}
/** The kinds that may be signed as a result, without a nonce. Roots and proofs are only attested. */
const RESULT_KINDS: readonly AttestationKind[] = ['numeric', 'boolean']

/** @param schemaKinds known schema UIDs, lower case, with their kinds of data */
export function createPayloadCheck(schemaKinds: ReadonlyMap<string, SchemaKind>): PayloadCheck {
  const knownSchemas = [...schemaKinds].map(([uid, kind]) => ({ bytes: Buffer.from(uid.slice(2), 'hex'), kind }))
  return { record, payload, payloads }

  function record(bytes: Uint8Array): CheckedPayload {
    const read = readPayload(bytes)
    if (read === undefined) return internal('the payload record is malformed')
    const { kind, schema, data, salt } = read
    const isResult = salt !== undefined
    if (isResult && !RESULT_KINDS.includes(kind)) return internal('unknown kind of payload')
    const schemaKind = findKind(schema)
    if (schemaKind !== undefined && schemaKind !== kind) {
      return problemAt('invalid-input', ['schema'], `is the schema of ${schemaKind} data, the result is ${kind}`, {
        code: 'schema-mismatch',
      }).data
    }
    const decoded = CHECKS[kind](data)
    if (decoded.ok) return read
    return internal(`the data of a ${kind} ${isResult ? 'result' : 'attestation'} ${decoded.reason}`)
  }

  function payload(given: AttestationPayload | ResultPayload): CheckedPayload {
    try {
      return record(packPayload(given))
    } catch (error) {
      if (error instanceof ProblemError) return error.data
      throw error
    }
  }

  function payloads(given: readonly AttestationPayload[]): PayloadRecord[] | ProblemData {
    const records: PayloadRecord[] = []
    for (const item of given) {
      const checked = payload(item)
      if (!('chainId' in checked)) return checked
      records.push(checked)
    }
    return records
  }

  /** Compares first bytes before whole UIDs: UIDs are hashes, so that rules out nearly all mismatches. */
  function findKind(schema: Uint8Array): SchemaKind | undefined {
    for (const { bytes, kind } of knownSchemas) {
      if (bytes[0] === schema[0] && bytes[1] === schema[1] && bytes.equals(schema)) return kind
    }
    return undefined
  }
}

function internal(detail: string): ProblemData {
  return { type: 'internal', detail }
}
