import { type ProblemData, ProblemError, problemAt } from '../base/problem.ts'
import { publicKeyAddress } from '../crypto/address.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { formatSignature } from '../crypto/signature.ts'
import {
  type AnySigningResult,
  type AttestationPayload,
  MAX_SEQUENCE,
  type RelayPayload,
  type RelaySigningResult,
  type ResultPayload,
  type ResultSigningResult,
  type SequencePayload,
  type SequenceSigningResult,
  type SignedAttestation,
  type SignedResult,
  type SigningFailure,
  type SigningPayload,
  type SigningResult,
} from '../wire/signing-messages.ts'
import {
  type PackablePayload,
  type PayloadRecord,
  packPayload,
  readPayload,
  type SignedRecord,
} from '../wire/signing-records.ts'
import type { AttestationKind, Hex } from '../wire/values.ts'
import type { Decoded } from './abi.ts'
import type { Chain } from './chains.ts'
import { checkBoolean, checkNumeric, decodeMerkleRoot, decodeVerify } from './data.ts'
import type { NonceResult, Nonces } from './nonces.ts'
import { type RelayCeilings, relayProblem, signRelayTransaction } from './relay-transaction.ts'
import type { SchemaKind } from './schemas.ts'
import { type AttestMessage, createAttestDigest, createResultDigest, type ResultMessage } from './typed-data.ts'

export interface SignerParts {
  readonly secp256k1: Secp256k1
  readonly keccak: Keccak
  /** 32 bytes; the signer holds it in a private field. */
  readonly privateKey: Uint8Array
  readonly chains: ReadonlyMap<number, Chain>
  /** Known schema UIDs, lower case, with their kinds of data. */
  readonly schemaKinds: ReadonlyMap<string, SchemaKind>
  readonly nonces: Nonces
  /** Time from the signature to its deadline. */
  readonly ttlSeconds: number
  /** Seconds since the epoch. */
  readonly nowSeconds: () => number
  /** Limits for transactions; undefined when none may be signed. */
  readonly relay?: RelayCeilings | undefined
}

export interface Signer {
  /** Lower case. */
  readonly address: Hex
  /**
   * Checks a payload, adds nonce and deadline, hashes and signs.
   *
   * @returns a promise only if a nonce must be read first; a problem is returned as data, the promise never rejects
   */
  sign(payload: AttestationPayload<Hex | Uint8Array>): SigningResult | Promise<SigningResult>
  /** Checks a result, adds the deadline, hashes and signs. Results have no nonce, so this never waits. */
  sign(payload: ResultPayload): ResultSigningResult
  /** Signs attestations with consecutive nonces from the chain's current one on. A problem with one of them rejects them all. */
  sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  /** Builds a transaction from our own account and signs it. */
  sign(payload: RelayPayload): RelaySigningResult
  sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  /** Signs an attestation or a result given as bytes, after the same checks. @param record as `putPayload` writes it */
  signRecord(record: Uint8Array): RecordResult | Promise<RecordResult>
}

export type RecordResult = ({ readonly ok: true } & SignedRecord) | SigningFailure

/** The digest functions of one chain. */
interface ChainDigests {
  readonly attestation: (message: AttestMessage) => Uint8Array
  readonly result: (message: ResultMessage) => Uint8Array
}

const ZERO_UID = new Uint8Array(32)

export function createSigner(parts: SignerParts): Signer {
  return new KeySigner(parts)
}

/**
 * The only code that uses the private key. It takes typed payloads, never digests. So no caller can make it sign a login, an
 * attestation of another layout or an arbitrary transaction (decision 95).
 *
 * Every attestation is revocable, never expires, has no refUID and no value, because that is what clients submit.
 */
class KeySigner implements Signer {
  readonly address: Hex
  readonly #parts: SignerParts
  readonly #attester: Uint8Array
  readonly #check: ReturnType<typeof createPayloadCheck>
  /** Digest functions by chain id. */
  readonly #digests = new Map<number, ChainDigests>()

  constructor(parts: SignerParts) {
    const { secp256k1, keccak, privateKey, chains, schemaKinds } = parts
    this.#parts = parts
    this.address = publicKeyAddress(secp256k1.publicKey(privateKey), keccak)
    this.#attester = Buffer.from(this.address.slice(2), 'hex')
    this.#check = createPayloadCheck(schemaKinds)
    for (const chain of chains.values()) {
      this.#digests.set(chain.id, {
        attestation: createAttestDigest(chain, keccak),
        result: createResultDigest(chain.id, keccak),
      })
    }
  }

  sign(payload: AttestationPayload<Hex | Uint8Array>): SigningResult | Promise<SigningResult>
  sign(payload: ResultPayload): ResultSigningResult
  sign(payload: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult>
  sign(payload: RelayPayload): RelaySigningResult
  sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult>
  sign(payload: SigningPayload): AnySigningResult | Promise<AnySigningResult> {
    if (payload.kind === 'sequence') return this.#signSequence(payload)
    if (payload.kind === 'relay-transaction') return this.#signRelay(payload)
    const signed = this.#signChecked(this.#check.payload(payload))
    return signed instanceof Promise ? signed.then(toSigningResult) : toSigningResult(signed)
  }

  signRecord(record: Uint8Array): RecordResult | Promise<RecordResult> {
    return this.#signChecked(this.#check.record(record))
  }

  /** Signs a payload whose check succeeded, or returns the problem that the check found. */
  #signChecked(payload: CheckedPayload): RecordResult | Promise<RecordResult> {
    if (!('chainId' in payload)) return { ok: false, problem: payload }
    const digest = this.#digests.get(payload.chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(payload.chainId, 'is not supported') }
    if (payload.salt !== undefined) return this.#signResult(payload, payload.salt, digest.result)
    const nonce = this.#parts.nonces.get(payload.chainId)
    return nonce instanceof Promise
      ? nonce.then((read) => this.#signAttestation(read, payload, digest.attestation))
      : this.#signAttestation(nonce, payload, digest.attestation)
  }

  #signSequence({ chainId, items }: SequencePayload): SequenceSigningResult | Promise<SequenceSigningResult> {
    const problem = sequenceProblem(chainId, items)
    if (problem !== undefined) return { ok: false, problem: problem.data }
    const payloads = this.#check.payloads(items)
    if (!Array.isArray(payloads)) return { ok: false, problem: payloads }
    const digest = this.#digests.get(chainId)
    if (digest === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const signAll = (nonce: NonceResult): SequenceSigningResult => {
      const signed: SignedAttestation[] = []
      // One deadline for all of them, because a group is submitted under one deadline.
      const deadlineSeconds = this.#deadlineSeconds()
      for (const [index, payload] of payloads.entries()) {
        const itemNonce = nonce.ok ? { ...nonce, nonce: nonce.nonce + index } : nonce
        const result = toSigningResult(this.#signAttestation(itemNonce, payload, digest.attestation, deadlineSeconds))
        if (!result.ok) return result
        signed.push(result as SignedAttestation)
      }
      return { ok: true, items: signed }
    }
    const nonce = this.#parts.nonces.get(chainId)
    return nonce instanceof Promise ? nonce.then(signAll) : signAll(nonce)
  }

  #signRelay(payload: RelayPayload): RelaySigningResult {
    const { chainId, items } = payload
    const problem = relayProblem(payload, this.#parts.relay)
    if (problem !== undefined) return { ok: false, problem: problem.data }
    const payloads = this.#check.payloads(items)
    if (!Array.isArray(payloads)) return { ok: false, problem: payloads }
    const chain = this.#parts.chains.get(chainId)
    if (chain === undefined) return { ok: false, problem: unsupported(chainId, 'is not supported') }
    const signed = signRelayTransaction(payload, chain.easAddress, this.#parts.keccak, (hash) => this.#signHash(hash))
    return { ok: true, ...signed }
  }

  #signResult(
    { schema, recipient, data }: PayloadRecord,
    salt: Uint8Array,
    digest: (message: ResultMessage) => Uint8Array,
  ): RecordResult {
    const deadlineSeconds = this.#deadlineSeconds()
    const hash = digest({ schema, recipient, data, deadlineSeconds, salt })
    const { compact, recovery } = this.#signHash(hash)
    return { ok: true, compact, recovery, nonce: 0, nonceSource: undefined, deadlineSeconds }
  }

  #signAttestation(
    read: NonceResult,
    { chainId, schema, recipient, data }: PayloadRecord,
    digest: (message: AttestMessage) => Uint8Array,
    deadlineSeconds = this.#deadlineSeconds(),
  ): RecordResult {
    if (!read.ok) return { ok: false, problem: unsupported(chainId, `is refused: ${read.refusalReason}`) }
    const { nonce, source: nonceSource } = read
    const hash = digest({
      attester: this.#attester,
      schema,
      recipient,
      expirationTimeSeconds: 0,
      revocable: true,
      refUID: ZERO_UID,
      data,
      nonce,
      deadlineSeconds,
    })
    const { compact, recovery } = this.#signHash(hash)
    return { ok: true, compact, recovery, nonce, nonceSource, deadlineSeconds }
  }

  #signHash(hash: Uint8Array) {
    return this.#parts.secp256k1.sign(hash, this.#parts.privateKey)
  }

  /** Returns the deadline of a signature that is made now. */
  #deadlineSeconds(): number {
    return this.#parts.nowSeconds() + this.#parts.ttlSeconds
  }
}

function toSigningResult(signed: RecordResult): SignedAttestation | SigningFailure
function toSigningResult(signed: RecordResult): SignedAttestation | SignedResult | SigningFailure {
  if (!signed.ok) return signed
  const { nonce, nonceSource, deadlineSeconds } = signed
  const signature = formatSignature(signed)
  return nonceSource === undefined
    ? { ok: true, signature, deadlineSeconds }
    : { ok: true, signature, nonce, nonceSource, deadlineSeconds }
}

function sequenceProblem(
  chainId: number,
  items: readonly AttestationPayload<Hex | Uint8Array>[],
): ProblemError | undefined {
  const isOneChain = items.every((item) => item.chainId === chainId)
  if (isOneChain && items.length > 0 && items.length <= MAX_SEQUENCE) return undefined
  return new ProblemError({ type: 'internal', detail: `a sequence is 1 to ${MAX_SEQUENCE} attestations of one chain` })
}

function unsupported(chainId: number, reason: string) {
  return problemAt('invalid-input', ['chainId'], `chain ${chainId} ${reason}`, { code: 'unsupported-chain' }).data
}

/** A payload that may be signed, or the problem with it. */
type CheckedPayload = PayloadRecord | ProblemData

/** Checks payloads in the signer thread, next to the key. The main thread has already checked what clients sent. */
interface PayloadCheck {
  /** @param bytes as `putPayload` writes them */
  record(bytes: Uint8Array): CheckedPayload
  payload(payload: PackablePayload): CheckedPayload
  /** @returns all payloads, or the problem of the first payload that has one */
  payloads(payloads: readonly AttestationPayload<Hex | Uint8Array>[]): PayloadRecord[] | ProblemData
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
function createPayloadCheck(schemaKinds: ReadonlyMap<string, SchemaKind>): PayloadCheck {
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

  function payload(given: PackablePayload): CheckedPayload {
    try {
      return record(packPayload(given))
    } catch (error) {
      if (error instanceof ProblemError) return error.data
      throw error
    }
  }

  function payloads(given: readonly AttestationPayload<Hex | Uint8Array>[]): PayloadRecord[] | ProblemData {
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
