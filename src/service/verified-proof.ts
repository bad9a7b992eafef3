import { authenticateAttestation } from '../attest/authenticate.ts'
import type { Chain } from '../attest/chains.ts'
import { decodeVerify } from '../attest/decode.ts'
import type { SchemaKind } from '../attest/schemas.ts'
import type { Config } from '../config.ts'
import { createKeccak } from '../crypto/keccak.ts'
import { loadSecp256k1 } from '../crypto/secp256k1.ts'
import { canonicalJson } from '../geometry/canonical.ts'
import type { Hex, Input } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { ChainClient } from '../threads/chain-client.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import type { VerifiedLocationProof } from '../types/generated.ts'

type Path = Input['path']

/** A verified proof as an input: the claimed location, and a reference to what vouches for it. */
export interface ProofInput {
  readonly ref: Hex
  /** GeoJSON text of the claim's location. */
  readonly geometry: string
  readonly proofInput?: unknown
}

export type ProofReader = (verified: VerifiedLocationProof, path: Path) => Promise<ProofInput>

export interface ProofReaderParts {
  readonly config: Config
  readonly chains: ReadonlyMap<number, Chain>
  readonly schemas: Readonly<Record<SchemaKind, Hex>>
  readonly signer: SignerClient
  readonly chainClient: ChainClient | undefined
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

/**
 * Decides whether a verified proof may be an input (decision 21).
 *
 * Without an attestation it is the caller's word: its geometry counts, under the hash of the proof. With one it has to
 * be ours: signed by our key over exactly this proof, young enough, not revoked. Everything else is refused by name of
 * the check, never taken for an unsigned one.
 */
export async function createProofReader(parts: ProofReaderParts): Promise<ProofReader> {
  const { config, chains, schemas, signer, chainClient, now } = parts
  const keccak = await createKeccak()
  const secp256k1 = await loadSecp256k1()
  const attesters = [signer.address.toLowerCase(), ...config.retiredAttesters]

  return async (verified, path) => {
    const proofHash = hashProof(verified, path)
    const geometry = JSON.stringify(verified.proof.claim.location)
    if (verified.attestation === undefined) return { ref: proofHash, geometry }
    const uid = verified.attestation.uid.toLowerCase() as Hex
    await authenticate(verified, proofHash, uid, path)
    return { ref: uid, geometry }
  }

  function hashProof(verified: VerifiedLocationProof, path: Path): Hex {
    try {
      return keccak.hashHex(Buffer.from(canonicalJson(verified.proof), 'utf8'))
    } catch (error) {
      throw refusal([...path, 'verifiedProof', 'proof'], 'canonical', (error as Error).message)
    }
  }

  async function authenticate(verified: VerifiedLocationProof, proofHash: Hex, uid: Hex, path: Path): Promise<void> {
    const at = [...path, 'verifiedProof']
    const { attestation, delegatedAttestation, chainId } = verified
    if (attestation === undefined) return
    if (delegatedAttestation === undefined) throw refusal([...at, 'delegatedAttestation'], 'complete', 'is missing')
    if (chainId === undefined) throw refusal([...at, 'chainId'], 'complete', 'is missing')
    const chain = chains.get(chainId)
    if (chain === undefined) throw refusal([...at, 'chainId'], 'chain', `chain ${chainId} is not supported`)
    if (attestation.schema.toLowerCase() !== schemas.verify) {
      throw refusal([...at, 'attestation', 'schema'], 'schema', 'is not the schema of verified proofs')
    }
    const decoded = decodeVerify(attestation.data as Hex)
    if (!decoded.ok) throw refusal([...at, 'attestation', 'data'], 'data', decoded.reason)
    if (decoded.value.proofHash !== proofHash) {
      throw refusal([...at, 'proof'], 'proof-hash', 'is not the proof that was attested')
    }
    if (decoded.value.stampCount !== verified.proof.stamps.length) {
      throw refusal([...at, 'proof', 'stamps'], 'stamp-count', 'has another number of stamps than was attested')
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
    requireSigningTime(attestation.time, delegatedAttestation.deadline, at)
    await requireNotRevoked(chain, uid, at)
  }

  /**
   * The time is not signed, yet the UID and so the reference hang on it: it has to be one that the signed deadline allows.
   */
  function requireSigningTime(timeSeconds: number, deadlineSeconds: number, at: Path): void {
    const isPossible = timeSeconds >= deadlineSeconds - LONGEST_TTL_SECONDS && timeSeconds <= deadlineSeconds
    if (isPossible && timeSeconds * 1000 <= now() + CLOCK_SKEW_MS) return
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
      throw new ProblemError({
        type: 'internal',
        detail: `chain unreachable: ${uid} could not be read`,
        retryAfterSeconds: 5,
      })
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
const CLOCK_SKEW_MS = 300_000

function refusal(path: Path, check: string, detail: string): ProblemError {
  return problemAt('invalid-input', path, detail, {
    code: `proof-${check}`,
    hint: 'send the answer of POST /verify/v0/proof unchanged, or without its attestation',
  })
}
