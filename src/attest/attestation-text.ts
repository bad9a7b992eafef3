import type { Hex } from '../messages.ts'

/** What an attestation covers before it is signed. */
export interface UnsignedAttestation {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
}

/** What the signer added, and who it is. */
export interface AttestationSignature {
  readonly signature: Hex
  /** Checksummed. */
  readonly attester: string
  readonly deadlineSeconds: number
  readonly nonce: number
}

const ZERO_UID = `0x${'0'.repeat(64)}`

/**
 * The members `attestation` and `delegatedAttestation` of an answer, JSON text without braces around them, up to the first
 * place of the signature: whoever computes a result can write it before it is signed.
 */
export function attestationHead({ schema, attester, recipient, data }: UnsignedAttestation): string {
  return (
    `"attestation":{"schema":"${schema}","attester":"${attester}","recipient":"${recipient}",` +
    `"data":"${data}","revocable":true,"refUID":"${ZERO_UID}","signature":"`
  )
}

/** The rest of them. */
export function attestationTail({ signature, attester, deadlineSeconds, nonce }: AttestationSignature): string {
  return (
    `${signature}"},"delegatedAttestation":{"signature":"${signature}","attester":"${attester}",` +
    `"deadline":${deadlineSeconds},"nonce":${nonce}}`
  )
}
