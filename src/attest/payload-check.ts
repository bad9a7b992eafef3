import type { AttestationKind, AttestationPayload, ResultPayload } from '../messages.ts'
import { type ProblemData, ProblemError, problemAt } from '../problem.ts'
import { type PayloadRecord, packPayload, readPayload } from '../signing-records.ts'
import type { Decoded } from './abi-reader.ts'
import { checkBoolean, checkNumeric, decodeMerkleRoot, decodeVerify } from './decode.ts'
import type { SchemaKind } from './schemas.ts'

/** What may be signed, or why it may not. */
export type CheckedPayload = PayloadRecord | ProblemData

/** Main has checked what a client sent; this is checked again where the key is. */
export interface PayloadCheck {
  /** @param bytes as `putPayload` writes them */
  record(bytes: Uint8Array): CheckedPayload
  payload(payload: AttestationPayload | ResultPayload): CheckedPayload
  /** @returns the problem of the first that has one */
  payloads(payloads: readonly AttestationPayload[]): PayloadRecord[] | ProblemData
}

const CHECKS: Readonly<Record<AttestationKind, (data: Uint8Array) => Decoded<unknown>>> = {
  numeric: checkNumeric,
  boolean: checkBoolean,
  verify: decodeVerify,
  'merkle-root': decodeMerkleRoot,
}
/** What can be signed without a nonce: a root is no result, and a proof is attested alone. */
const RESULT_KINDS: readonly AttestationKind[] = ['numeric', 'boolean']

/** @param schemaKinds schema UIDs whose kind of data is known */
export function createPayloadCheck(schemaKinds: ReadonlyMap<string, SchemaKind>): PayloadCheck {
  const known = [...schemaKinds].map(([uid, kind]) => ({ bytes: Buffer.from(uid.slice(2), 'hex'), kind }))
  return { record, payload, payloads }

  function record(bytes: Uint8Array): CheckedPayload {
    const found = readPayload(bytes)
    if (found === undefined) return internal('the record of a payload is not one')
    const { kind, schema, data, salt } = found
    const isResult = salt !== undefined
    if (isResult && !RESULT_KINDS.includes(kind)) return internal('unknown kind of payload')
    const schemaKind = kindOf(schema)
    if (schemaKind !== undefined && schemaKind !== kind) {
      return problemAt('invalid-input', ['schema'], `is the schema of ${schemaKind} data, the result is ${kind}`, {
        code: 'schema-mismatch',
      }).data
    }
    const decoded = CHECKS[kind](data)
    if (decoded.ok) return found
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
    const found: PayloadRecord[] = []
    for (const item of given) {
      const checked = payload(item)
      if (!('chainId' in checked)) return checked
      found.push(checked)
    }
    return found
  }

  /** UIDs are hashes: their first bytes tell the few that are known from nearly all others. */
  function kindOf(schema: Uint8Array): SchemaKind | undefined {
    for (const { bytes, kind } of known) {
      if (bytes[0] === schema[0] && bytes[1] === schema[1] && bytes.equals(schema)) return kind
    }
    return undefined
  }
}

function internal(detail: string): ProblemData {
  return { type: 'internal', detail }
}
