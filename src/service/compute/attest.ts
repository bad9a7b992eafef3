import { ProblemError } from '../../base/problem.ts'
import { checksumAddress } from '../../crypto/address.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { AttestationPayload, NonceSource, SignedAttestation } from '../../wire/signing-messages.ts'
import type { Hex } from '../../wire/values.ts'

/** A delegated attestation as it appears in responses. */
export interface Attested {
  readonly schema: Hex
  /** Checksummed. */
  readonly attester: string
  /** Checksummed. */
  readonly recipient: string
  readonly data: Hex
  readonly signature: Hex
  readonly nonce: number
  readonly nonceSource: NonceSource
  readonly deadlineSeconds: number
}

/**
 * Has the signer sign a payload.
 *
 * @param payload its schema must have passed `ChainPolicy.requireSchema`
 * @param isBulk true for a batch, which the signer serves after single requests
 * @throws {ProblemError} if the signer does not sign it
 */
export async function attest(
  payload: AttestationPayload,
  signer: Pick<SignerClient, 'address' | 'sign'>,
  isBulk = false,
): Promise<Attested> {
  const signed = await signer.sign(payload, isBulk)
  if (!signed.ok) throw new ProblemError(signed.problem)
  return toAttested(payload, signed, signer.address)
}

/** Joins a payload with its signature. @param attester checksummed */
export function toAttested(
  { schema, recipient, data }: AttestationPayload,
  { signature, nonce, nonceSource, deadlineSeconds }: SignedAttestation,
  attester: string,
): Attested {
  return {
    schema,
    attester,
    recipient: checksumAddress(recipient),
    data,
    signature,
    nonce,
    nonceSource,
    deadlineSeconds,
  }
}

export const NONCE_SOURCE = 'X-Attester-Nonce-Source'
const NO_HEADERS = {}
const FROM_CACHE = { [NONCE_SOURCE]: 'cache' }
const FROM_DEFAULT = { [NONCE_SOURCE]: 'default' }

/** Returns the response header that marks a nonce which was not just read from the chain (decision 100). */
export function nonceHeaders({ nonceSource }: Pick<Attested, 'nonceSource'>): Readonly<Record<string, string>> {
  if (nonceSource === 'chain') return NO_HEADERS
  return nonceSource === 'cache' ? FROM_CACHE : FROM_DEFAULT
}
