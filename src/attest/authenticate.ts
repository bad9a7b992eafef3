import { recoverAddress } from '../crypto/address.ts'
import { hexToBytes } from '../crypto/hex.ts'
import type { Keccak, Secp256k1 } from '../crypto/primitives.ts'
import { parseSignature } from '../crypto/signature.ts'
import type { ProofAttestation, ProofDelegation } from '../types/generated.ts'
import type { Chain } from './chains.ts'
import { createAttestDigest } from './typed-data.ts'
import { attestationUid } from './uid.ts'

export interface SignedAttestation {
  readonly attestation: Readonly<ProofAttestation>
  readonly delegatedAttestation: Readonly<ProofDelegation>
}

export interface AuthenticationOptions {
  /** The chain the attestation was signed for. */
  readonly chain: Pick<Chain, 'id' | 'profile' | 'easVersion' | 'easAddress'>
  /** Addresses that this service signs or has signed with, lower case. */
  readonly attesters: readonly string[]
  readonly nowSeconds: number
  /** How long after its signed deadline an attestation is still accepted. */
  readonly maxAgeSeconds: number
  readonly keccak: Keccak
  readonly secp256k1: Secp256k1
}

/** The fields that a signature covers, as responses spell them; hex of the right lengths. */
export interface SignedFields {
  readonly schema: string
  readonly attester: string
  readonly recipient: string
  readonly data: string
  readonly revocable: boolean
  readonly refUID: string
  /** Unix seconds; 0 means never. */
  readonly expirationTime: number
  readonly signature?: string
}

export type SignatureOptions = Pick<AuthenticationOptions, 'chain' | 'attesters' | 'keccak' | 'secp256k1'>

export type SignatureAuthentication =
  | { readonly ok: true }
  | { readonly ok: false; readonly check: 'attester' | 'signature'; readonly reason: string }

export type Authentication =
  | { readonly ok: true }
  | {
      readonly ok: false
      readonly check: 'attester' | 'signature' | 'fields' | 'uid' | 'age' | 'revoked'
      readonly reason: string
    }

const LARGEST_INTEGER = 2 ** 48 - 1
const HEX_BYTES = /^0x(?:[0-9a-fA-F]{2})*$/

/**
 * Checks whether this service signed an attestation that a client sent back (decision 21). The signer is recovered from the
 * signature over every field as sent, in the chain's layout, so a changed field changes the recovered signer.
 *
 * `time` and `uid` are not signed; the UID must be the hash of the fields, so that it identifies them. On `legacy` chains the
 * deadline is not signed either, so the age is not checked here: the caller must find the attestation on the chain.
 *
 * @returns ok, or the first check that fails; never throws on client input
 */
export function authenticateAttestation(signed: SignedAttestation, options: AuthenticationOptions): Authentication {
  const { attestation, delegatedAttestation: delegated } = signed
  const { chain, nowSeconds, maxAgeSeconds, keccak } = options
  const malformed = malformedField(signed)
  if (malformed !== undefined) return { ok: false, check: 'fields', reason: `${malformed} is malformed` }
  const authenticated = authenticateSignature(signed, options)
  if (!authenticated.ok) return authenticated
  const uid = attestationUid(
    { ...attestation, timeSeconds: attestation.time, expirationTimeSeconds: attestation.expirationTime },
    keccak,
  )
  if (uid !== attestation.uid.toLowerCase()) return { ok: false, check: 'uid', reason: 'uid does not match the fields' }
  if (chain.profile !== 'legacy' && nowSeconds > delegated.deadline + maxAgeSeconds) {
    return { ok: false, check: 'age', reason: `deadline passed more than ${maxAgeSeconds} s ago` }
  }
  if (attestation.revocationTime !== 0) return { ok: false, check: 'revoked', reason: 'is marked as revoked' }
  return { ok: true }
}

/**
 * Checks whether one of `attesters` signed exactly these fields for the chain's EAS contract, with the nonce and deadline as
 * sent. On `legacy` chains the signature does not cover the deadline.
 *
 * @param signed its shape must have been checked: hex of the right lengths, integers up to 2⁴⁸−1
 */
export function authenticateSignature(
  signed: { readonly attestation: SignedFields; readonly delegatedAttestation: Readonly<ProofDelegation> },
  { chain, attesters, keccak, secp256k1 }: SignatureOptions,
): SignatureAuthentication {
  const { attestation, delegatedAttestation: delegated } = signed
  const attester = attestation.attester.toLowerCase()
  if (!attesters.includes(attester)) {
    return { ok: false, check: 'attester', reason: 'attester is not an address of this service' }
  }
  if (delegated.attester.toLowerCase() !== attester) {
    return { ok: false, check: 'attester', reason: 'delegatedAttestation names another attester' }
  }
  const { signature } = attestation
  if (signature !== undefined && signature.toLowerCase() !== delegated.signature.toLowerCase()) {
    return { ok: false, check: 'signature', reason: 'signature differs from the one in delegatedAttestation' }
  }
  const parsed = parseSignature(delegated.signature)
  if (!parsed.ok) return { ok: false, check: 'signature', reason: `signature ${parsed.reason}` }
  const data = hexToBytes(attestation.data)
  if (data === undefined) return { ok: false, check: 'signature', reason: 'data is not pairs of hex digits' }
  const digest = createAttestDigest(
    chain,
    keccak,
  )({
    attester,
    schema: attestation.schema,
    recipient: attestation.recipient,
    expirationTimeSeconds: attestation.expirationTime,
    revocable: attestation.revocable,
    refUID: attestation.refUID,
    data,
    nonce: delegated.nonce,
    deadlineSeconds: delegated.deadline,
  })
  if (recoverAddress(digest, parsed.signature, secp256k1, keccak) === attester) return { ok: true }
  const reason = `the attester did not sign these fields for chain ${chain.id}`
  return { ok: false, check: 'signature', reason }
}

function malformedField({ attestation, delegatedAttestation: delegated }: SignedAttestation): string | undefined {
  const isInteger = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LARGEST_INTEGER
  const isBytes = (value: unknown, length?: number) =>
    typeof value === 'string' && HEX_BYTES.test(value) && (length === undefined || value.length === 2 + 2 * length)
  const checks: readonly (readonly [string, boolean])[] = [
    ['uid', isBytes(attestation.uid, 32)],
    ['schema', isBytes(attestation.schema, 32)],
    ['attester', isBytes(attestation.attester, 20)],
    ['recipient', isBytes(attestation.recipient, 20)],
    ['refUID', isBytes(attestation.refUID, 32)],
    ['data', isBytes(attestation.data)],
    ['revocable', typeof attestation.revocable === 'boolean'],
    ['time', isInteger(attestation.time)],
    ['expirationTime', isInteger(attestation.expirationTime)],
    ['revocationTime', isInteger(attestation.revocationTime)],
    ['signature', attestation.signature === undefined || typeof attestation.signature === 'string'],
    ['delegatedAttestation.attester', isBytes(delegated.attester, 20)],
    ['delegatedAttestation.signature', typeof delegated.signature === 'string'],
    ['delegatedAttestation.deadline', isInteger(delegated.deadline)],
    ['delegatedAttestation.nonce', isInteger(delegated.nonce)],
  ]
  return checks.find(([, isValid]) => !isValid)?.[0]
}
