import type { Hex } from '../wire/messages.ts'

/** The fields of an attestation that vary, before it is signed. */
export interface UnsignedAttestation {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
}

/** The signature, its signer, and the fields that the signer added. */
export interface AttestationSignature {
  readonly signature: Hex
  /** Checksummed. */
  readonly attester: string
  readonly deadlineSeconds: number
  readonly nonce: number
}

const ZERO_UID = `0x${'0'.repeat(64)}`

/**
 * Writes the members `attestation` and `delegatedAttestation` of a response as JSON without outer braces, up to the first
 * occurrence of the signature. A compute thread can write this part before the result is signed.
 */
export function attestationJsonHead({ schema, attester, recipient, data }: UnsignedAttestation): string {
  return (
    `"attestation":{"schema":"${schema}","attester":"${attester}","recipient":"${recipient}",` +
    `"data":"${data}","revocable":true,"refUID":"${ZERO_UID}","signature":"`
  )
}

/** Writes the remainder, from the signature on. */
export function attestationJsonTail({ signature, attester, deadlineSeconds, nonce }: AttestationSignature): string {
  return (
    `${signature}"},"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"nonce":${nonce}}`
  )
}
