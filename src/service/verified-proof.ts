import { authenticateAttestation } from '../attest/authenticate.ts'
import type { Chain } from '../attest/chains.ts'
import type { SchemaKind } from '../attest/schemas.ts'
import type { Config } from '../config.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { OWN_EVALUATION, PROOF_HINT } from '../evidence-messages.ts'
import type { Hex, Input } from '../messages.ts'
import { ProblemError, problemAt, underPath } from '../problem.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { VerifiedLocationProof } from '../types/generated.ts'
import { chainProblem, supportedChains } from './chain-policy.ts'
import type { EvidenceQuestions } from './evidence.ts'
import type { RequestContext } from './services.ts'

type Path = Input['path']

/** A verified proof as an input: the claimed location, and a reference to what vouches for it. */
export interface ProofInput {
  readonly ref: Hex
  /** Text of the claim's location: GeoJSON, or of the notation that its type names. */
  readonly geometry: string
  readonly locationType?: string | undefined
  /** JSON text of what an authenticated proof says (decision 86). */
  readonly proofInput?: string
}

export type ProofReader = (verified: VerifiedLocationProof, path: Path, context: RequestContext) => Promise<ProofInput>

export interface ProofReaderParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
  readonly ask: EvidenceQuestions
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Decides whether a verified proof may be an input (decision 21).
 *
 * Without an attestation it is the caller's word: its geometry counts, under the hash of the proof. With one it has to
 * be ours: signed by our key over exactly this proof and the measures it gives when it is judged again, young enough, not
 * revoked. Everything else is refused by name of
 * the check, never taken for an unsigned one.
 */
export async function createProofReader(parts: ProofReaderParts): Promise<ProofReader> {
  const { config, chains, schemas, signer, chainClient, ask, now } = parts
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const attesters = [signer.address.toLowerCase(), ...config.retiredAttesters]

  return async (verified, path, context) => {
    const at = [...path, 'verifiedProof']
    const { location, locationType } = verified.proof.claim
    const place =
      typeof location === 'string' ? { geometry: location, locationType } : { geometry: JSON.stringify(location) }
    if (verified.attestation === undefined) {
      const { proofHash } = await inThread('hash', verified, 0, at, context)
      return { ref: proofHash!, ...place }
    }
    const chain = authenticate(verified, at)
    // The measures inside are ours, and yet judged again: the rules may have become better since.
    const { members } = await inThread('recheck', verified, evaluatedAtOf(verified), at, context)
    const uid = verified.attestation.uid.toLowerCase() as Hex
    await requireNotRevoked(chain, uid, at)
    return { ref: uid, ...place, proofInput: `{"ref":"${uid}",${members}}` }
  }

  /** Everything that is seen without the stamps. */
  function authenticate(verified: VerifiedLocationProof, at: Path): Chain {
    const { attestation, delegatedAttestation, chainId, evaluationMethod } = verified
    if (attestation === undefined) throw new RangeError('nothing to authenticate')
    if (delegatedAttestation === undefined) throw refusal([...at, 'delegatedAttestation'], 'complete', 'is missing')
    if (chainId === undefined) throw refusal([...at, 'chainId'], 'complete', 'is missing')
    const chain = chains.get(chainId)
    if (chain === undefined) {
      const why = `chain ${chainId} is not supported; ${supportedChains(chains.values())}`
      throw refusal([...at, 'chainId'], 'chain', why)
    }
    if (attestation.schema.toLowerCase() !== schemas.verify) {
      throw refusal([...at, 'attestation', 'schema'], 'schema', 'is not the schema of verified proofs')
    }
    // The name is not signed, and the proof is judged again: one from before the operator named a method is as good.
    const methods = new Set([config.evaluation.method, OWN_EVALUATION.method])
    if (evaluationMethod !== undefined && !methods.has(evaluationMethod)) {
      throw refusal([...at, 'evaluationMethod'], 'method', `is not ${[...methods].join(' or ')}`)
    }
    const checked = authenticateAttestation(
      { attestation, delegatedAttestation },
      {
        chain,
        attesters,
        nowSeconds: Math.floor(now() / 1000),
        maxAgeSeconds: config.verifiedProofMaxAgeSeconds,
        keccak,
        secp256k1,
      },
    )
    if (!checked.ok) throw refusal([...at, 'attestation'], checked.check, checked.reason)
    requireSigningTimes(evaluatedAtOf(verified), attestation.time, delegatedAttestation.deadline, at)
    return chain
  }

  async function inThread(
    question: 'hash' | 'recheck',
    { proof, credibility, attestation }: VerifiedLocationProof,
    nowSeconds: number,
    at: Path,
    context: RequestContext,
  ) {
    const told = question === 'recheck' ? { proof, credibility, data: attestation?.data } : { proof }
    const result = await ask({ question, body: Buffer.from(JSON.stringify(told)), nowSeconds }, context)
    if (result.ok) return result
    throw new ProblemError({ ...underPath(result.problem, at), type: 'invalid-input' })
  }

  /**
   * Neither time is signed, yet the UID and so the reference hang on the one, and what is found on the other: both have to
   * be ones that the signed deadline allows. On chain the attestation's time becomes that of its block.
   */
  function requireSigningTimes(evaluatedAt: number, timeSeconds: number, deadlineSeconds: number, at: Path): void {
    const isPossible = (seconds: number) =>
      Number.isInteger(seconds) && seconds >= deadlineSeconds - LONGEST_TTL_SECONDS && seconds <= deadlineSeconds
    if (!isPossible(evaluatedAt) || evaluatedAt > timeSeconds + CLOCK_SKEW_SECONDS) {
      throw refusal([...at, 'evaluatedAt'], 'time', 'is not a time at which it can have been evaluated')
    }
    if (isPossible(timeSeconds) && timeSeconds <= now() / 1000 + CLOCK_SKEW_SECONDS) return
    throw refusal([...at, 'attestation', 'time'], 'time', 'is not a time at which it can have been signed')
  }

  /** Legacy signatures carry no deadline, so there only the chain can say that an attestation still stands. */
  async function requireNotRevoked(chain: Chain, uid: Hex, at: Path): Promise<void> {
    const place = [...at, 'attestation', 'uid']
    if (chainClient === undefined || !chainClient.serves(chain.id)) {
      if (chain.profile !== 'legacy') return
      throw refusal(place, 'on-chain', `chain ${chain.id} signs no deadline and cannot be read: the age is unknown`)
    }
    const found = await chainClient.attestation(chain.id, uid)
    if (!found.ok) {
      throw chainProblem(chain.id, found, `${uid} could not be read`)
    }
    if (found.value === undefined) {
      if (chain.profile === 'legacy') throw refusal(place, 'on-chain', `was not found on chain ${chain.id}`)
      return
    }
    if (found.value.revocationTimeSeconds !== 0) throw refusal(place, 'revoked', 'is revoked')
  }
}

/** Longest `ATTESTATION_TTL_SECONDS` there may be (decision 76). */
const LONGEST_TTL_SECONDS = 86_400
const CLOCK_SKEW_SECONDS = 300

function evaluatedAtOf({ evaluatedAt, attestation }: VerifiedLocationProof): number {
  return evaluatedAt ?? attestation?.time ?? 0
}

function refusal(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, {
    code: `proof-${check}`,
    hint: PROOF_HINT,
  })
}
