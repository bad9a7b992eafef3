import { setImmediate } from 'node:timers/promises'
import type { Chain } from '../../attest/chains.ts'
import { authenticateOffchain } from '../../attest/offchain.ts'
import { type ProblemError, problemAt } from '../../base/problem.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { Input, ResolvedInput } from '../../wire/compute-messages.ts'
import { chainProblem } from '../chains/chain-policy.ts'
import { chargeTime, type RequestContext } from '../request.ts'

export type AttestedInput = Extract<Input, { form: 'attested' }>

/** Returns the reference of an off-chain attestation, and the chain that could not be asked whether it is revoked. */
export type OffchainReader = (
  input: AttestedInput,
  context: Pick<RequestContext, 'costs'>,
) => Promise<Pick<ResolvedInput, 'ref' | 'uncheckedChainId'>>

export interface OffchainReaderParts {
  readonly chains: ReadonlyMap<number, Chain>
  readonly chainClient: Pick<ChainClient, 'serves' | 'offchainRevocation'> | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** An attester's clock may be this far ahead of ours. */
const CLOCK_SKEW_SECONDS = 300n

/**
 * Makes the function that decides whether an off-chain attestation may be an input (decision 167): signed by the named signer for the
 * EAS contract of a known chain, with the UID of its message, begun, not expired, and not revoked.
 *
 * Anybody may be the signer, as for attestations on a chain. The function throws {ProblemError}: `invalid-input` with the failed check,
 * `internal` if the chain does not answer.
 */
export async function createOffchainReader({ chains, chainClient, now }: OffchainReaderParts): Promise<OffchainReader> {
  const [keccak, secp256k1] = [await createKeccak(), await loadSecp256k1()]
  return async ({ attestation, attestationPath, signer, path }, context) => {
    await setImmediate() // other requests have their turn between the attestations of a batch
    const checked = chargeTime(context, () =>
      authenticateOffchain({ attestation, signer }, { chains, keccak, secp256k1 }),
    )
    if (!checked.ok) {
      const { check, member, reason, hint } = checked
      const base = check === 'signer' ? [...path, 'attestation'] : attestationPath
      throw offchainProblem([...base, ...member], check, reason, hint)
    }
    const { uid, chainId, timeSeconds, expirationTimeSeconds } = checked
    const nowSeconds = BigInt(Math.floor(now() / 1000))
    if (timeSeconds > nowSeconds + CLOCK_SKEW_SECONDS) {
      const reason = `is ${timeSeconds - nowSeconds} seconds in the future`
      throw offchainProblem([...attestationPath, 'message', 'time'], 'time', reason, 'send it again later')
    }
    if (expirationTimeSeconds !== 0n && expirationTimeSeconds <= nowSeconds) {
      const expiryPath = [...attestationPath, 'message', 'expirationTime']
      throw offchainProblem(expiryPath, 'expired', 'has passed', 'send an attestation that has not expired')
    }
    if (chainClient?.serves(chainId) !== true) return { ref: uid, uncheckedChainId: chainId }
    const revocation = await chainClient.offchainRevocation(chainId, checked.signer, uid)
    if (!revocation.ok) throw chainProblem(chainId, revocation, `the revocation of ${uid} could not be read`)
    if (revocation.value === 0n) return { ref: uid }
    const reason = `was revoked on chain ${chainId} by its signer`
    throw offchainProblem([...attestationPath, 'uid'], 'revoked', reason, 'send an attestation that is not revoked')
  }
}

function offchainProblem(path: Input['path'], check: string, detail: string, hint: string): ProblemError {
  return problemAt('invalid-input', path, detail, { code: `attestation-${check}`, hint })
}
