import { authenticateAttestation } from '../../attest/authenticate.ts'
import type { Chain } from '../../attest/chains.ts'
import type { SchemaKind } from '../../attest/schemas.ts'
import { ProblemError, problemAt, underPath } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { createKeccak } from '../../crypto/keccak.ts'
import type { Keccak, Secp256k1 } from '../../crypto/primitives.ts'
import { loadSecp256k1 } from '../../crypto/secp256k1.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import type { VerifiedLocationProof } from '../../types/generated.ts'
import type { Input } from '../../wire/compute-messages.ts'
import { PROOF_HINT } from '../../wire/evidence-messages.ts'
import type { Hex } from '../../wire/values.ts'
import { chainProblem, supportedChains } from '../chains/chain-policy.ts'
import type { RequestContext } from '../request.ts'
import type { EvidenceRunner } from './evidence.ts'

type Path = Input['path']

/** A verified proof as an input: the claimed location, and a reference to the proof or to its attestation. */
export interface ProofInput {
  readonly ref: Hex
  /** The claim's location as text: GeoJSON, or the notation that its location type names. */
  readonly geometry: string
  readonly locationType?: string | undefined
  /** JSON summary of an authenticated proof (decision 86). */
  readonly proofInput?: string
}

export type ProofReader = (verified: VerifiedLocationProof, path: Path, context: RequestContext) => Promise<ProofInput>

export interface ProofReaderParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
  readonly runEvidence: EvidenceRunner
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/** Largest value that `ATTESTATION_TTL_SECONDS` may have (decision 76). */
const MAX_TTL_SECONDS = 86_400
const CLOCK_SKEW_SECONDS = 300

/**
 * Makes the function that decides whether a verified proof may be an input (decision 21).
 *
 * A proof without an attestation proves nothing. Its geometry is used, and the hash of the proof is its reference. An attestation
 * must be ours: signed by our key over exactly this proof and over the measures that a new evaluation gives, recent enough, and
 * not revoked. Any other attestation is rejected with the name of the failed check; it is never treated as an unsigned proof.
 */
export async function createProofReader(parts: ProofReaderParts): Promise<ProofReader> {
  const checks = new ProofChecks(parts, await createKeccak(), await loadSecp256k1())
  return (verified, path, context) => checks.read(verified, path, context)
}

class ProofChecks {
  readonly #parts: ProofReaderParts
  readonly #keccak: Keccak
  readonly #secp256k1: Secp256k1
  /** Addresses that sign or signed for this service, lower case. */
  readonly #attesters: readonly string[]

  constructor(parts: ProofReaderParts, keccak: Keccak, secp256k1: Secp256k1) {
    this.#parts = parts
    this.#keccak = keccak
    this.#secp256k1 = secp256k1
    this.#attesters = [parts.signer.address.toLowerCase(), ...parts.config.retiredAttesters]
  }

  async read(verified: VerifiedLocationProof, path: Path, context: RequestContext): Promise<ProofInput> {
    const pointer = [...path, 'verifiedProof']
    const { location, locationType } = verified.proof.claim
    const located =
      typeof location === 'string' ? { geometry: location, locationType } : { geometry: JSON.stringify(location) }
    if (verified.attestation === undefined) {
      const { proofHash } = await this.#runInThread('hash', verified, 0, pointer, context)
      return { ref: proofHash!, ...located }
    }
    const chain = this.#authenticate(verified, pointer)
    // The signed measures are ours, but the proof is evaluated again: the rules may have improved since.
    const { members } = await this.#runInThread('recheck', verified, evaluationTime(verified), pointer, context)
    const uid = verified.attestation.uid.toLowerCase() as Hex
    await requireNotRevoked(this.#parts.chainClient, chain, uid, [...pointer, 'attestation', 'uid'])
    return { ref: uid, ...located, proofInput: `{"ref":"${uid}",${members}}` }
  }

  /**
   * Checks that do not need the stamps. `evaluationMethod` and `evaluationMode` are not compared: they are unsigned, the operator
   * may have changed the settings since, and the response names the current ones.
   */
  #authenticate(verified: VerifiedLocationProof, pointer: Path): Chain {
    const { chains, schemas, config, now } = this.#parts
    const { attestation, delegatedAttestation, chainId } = verified
    if (attestation === undefined) throw new RangeError('nothing to authenticate')
    if (delegatedAttestation === undefined)
      throw proofProblem([...pointer, 'delegatedAttestation'], 'complete', 'is missing')
    if (chainId === undefined) throw proofProblem([...pointer, 'chainId'], 'complete', 'is missing')
    const chain = chains.get(chainId)
    if (chain === undefined) {
      const reason = `chain ${chainId} is not supported; ${supportedChains(chains.values())}`
      throw proofProblem([...pointer, 'chainId'], 'chain', reason)
    }
    if (attestation.schema.toLowerCase() !== schemas.verify) {
      throw proofProblem([...pointer, 'attestation', 'schema'], 'schema', 'is not the schema of verified proofs')
    }
    const nowSeconds = now() / 1000
    const checked = authenticateAttestation(
      { attestation, delegatedAttestation },
      {
        chain,
        attesters: this.#attesters,
        nowSeconds: Math.floor(nowSeconds),
        maxAgeSeconds: config.verifiedProofMaxAgeSeconds,
        keccak: this.#keccak,
        secp256k1: this.#secp256k1,
      },
    )
    if (!checked.ok) throw proofProblem([...pointer, 'attestation'], checked.check, checked.reason)
    const times = { evaluatedAt: evaluationTime(verified), signedAt: attestation.time }
    requireSigningTimes(times, delegatedAttestation.deadline, nowSeconds, pointer)
    return chain
  }

  async #runInThread(
    kind: 'hash' | 'recheck',
    { proof, credibility, attestation }: VerifiedLocationProof,
    nowSeconds: number,
    pointer: Path,
    context: RequestContext,
  ) {
    const input = kind === 'recheck' ? { proof, credibility, data: attestation?.data } : { proof }
    const body = Buffer.from(JSON.stringify(input))
    const result = await this.#parts.runEvidence({ kind, body, nowSeconds }, context)
    if (result.ok) return result
    throw new ProblemError({ ...underPath(result.problem, pointer), type: 'invalid-input' })
  }
}

/**
 * Checks two times that are not signed. The attestation's time determines its UID and so the reference; the time of evaluation
 * determines the measures. Both must be possible for the signed deadline. On chain, the time of the block replaces the
 * attestation's time.
 *
 * All times are Unix seconds.
 */
function requireSigningTimes(
  { evaluatedAt, signedAt }: { readonly evaluatedAt: number; readonly signedAt: number },
  deadline: number,
  now: number,
  pointer: Path,
): void {
  const isPossible = (seconds: number) =>
    Number.isInteger(seconds) && seconds >= deadline - MAX_TTL_SECONDS && seconds <= deadline
  if (!isPossible(evaluatedAt) || evaluatedAt > signedAt + CLOCK_SKEW_SECONDS) {
    throw proofProblem(
      [...pointer, 'evaluatedAt'],
      'time',
      'is not a possible time of evaluation: it does not fit the signed deadline or the time of the attestation',
    )
  }
  if (isPossible(signedAt) && signedAt <= now + CLOCK_SKEW_SECONDS) return
  throw proofProblem(
    [...pointer, 'attestation', 'time'],
    'time',
    'is not a possible time of signing: it does not fit the signed deadline, or it is in the future',
  )
}

/**
 * Checks on the chain that an attestation is not revoked. A legacy signature covers no deadline, so such an attestation must be on
 * the chain, because only the chain shows that it is still valid. Any other one is accepted if the chain does not have it or cannot
 * be read.
 */
async function requireNotRevoked(
  chainClient: ChainClient | undefined,
  chain: Chain,
  uid: Hex,
  uidPath: Path,
): Promise<void> {
  if (chainClient === undefined || !chainClient.serves(chain.id)) {
    if (chain.profile !== 'legacy') return
    throw proofProblem(
      uidPath,
      'on-chain',
      `chain ${chain.id} signs no deadline and cannot be read, so the age of the attestation is unknown`,
    )
  }
  const reply = await chainClient.attestation(chain.id, uid)
  if (!reply.ok) throw chainProblem(chain.id, reply, `${uid} could not be read`)
  if (reply.value === undefined) {
    if (chain.profile === 'legacy') throw proofProblem(uidPath, 'on-chain', `was not found on chain ${chain.id}`)
    return
  }
  if (reply.value.revocationTimeSeconds !== 0) throw proofProblem(uidPath, 'revoked', 'is revoked')
}

function evaluationTime({ evaluatedAt, attestation }: VerifiedLocationProof): number {
  return evaluatedAt ?? attestation?.time ?? 0
}

function proofProblem(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, {
    code: `proof-${check}`,
    hint: PROOF_HINT,
  })
}
