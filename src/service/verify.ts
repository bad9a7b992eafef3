import { attestationUid } from '../attest/uid.ts'
import type { Config } from '../config.ts'
import type { Keccak } from '../crypto/keccak.ts'
import type { VerifyResult, VerifyTask } from '../evidence-messages.ts'
import type { Hex } from '../messages.ts'
import { ProblemError, problemAt } from '../problem.ts'
import type { SignerClient } from '../threads/signer-client.ts'
import { pluginsOf } from '../verify/plugin-table.ts'
import { type Attested, attest, nonceHeaders } from './attest.ts'
import type { ChainPolicy } from './chain-policy.ts'
import type { EvidenceQuestions } from './evidence.ts'
import type { RequestContext, ServiceAnswer, Services } from './services.ts'

export interface VerifyServiceParts {
  readonly config: Config
  readonly ask: EvidenceQuestions
  readonly chains: ChainPolicy
  readonly signer: Pick<SignerClient, 'address' | 'sign'>
  readonly keccak: Keccak
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Verified = Extract<VerifyResult, { ok: true }>

const ZERO_UID: Hex = `0x${'0'.repeat(64)}`

/** Evidence: judged in the compute threads, signed here when a chain is named. */
export function createVerifyService(
  parts: VerifyServiceParts,
): Pick<Services, 'verifyStamp' | 'verifyProof' | 'pluginsJson'> {
  const { config, ask, chains, signer, keccak, now } = parts
  return {
    async verifyStamp(body, context) {
      const { members } = await run('stamp', body, context, nowSeconds())
      return { json: `{${members}}` }
    },
    async verifyProof(body, context) {
      const evaluatedAt = nowSeconds()
      const verified = await run('proof', body, context, evaluatedAt)
      return verified.attest === undefined ? { json: `{${verified.members}}` } : sign(verified, evaluatedAt)
    },
    pluginsJson: JSON.stringify({
      plugins: pluginsOf(config).map(({ name, version, environments, description }) => ({
        name,
        version,
        environments,
        description,
      })),
    }),
  }

  function nowSeconds(): number {
    return Math.floor(now() / 1000)
  }

  async function run(
    question: VerifyTask['question'],
    body: Uint8Array,
    context: RequestContext,
    evaluatedAt: number,
  ): Promise<Verified> {
    const result = await ask({ question, body, nowSeconds: evaluatedAt }, context)
    if (!result.ok) throw new ProblemError(result.problem)
    return result
  }

  async function sign({ members, data, attest: request }: Verified, evaluatedAt: number): Promise<ServiceAnswer> {
    if (request === undefined || data === undefined) throw new RangeError('nothing to sign')
    const { chainId, recipient, submitOnchain } = request
    chains.require(chainId)
    if (submitOnchain) {
      throw problemAt('not-implemented', ['options', 'submitOnchain'], 'this service does not submit attestations', {
        code: 'no-submission',
        hint: 'submit the delegated attestation of the answer yourself',
      })
    }
    const schema = chains.defaultSchema('verify')
    const attested = await attest({ kind: 'verify', chainId, schema, recipient, data }, signer)
    const json = `{${members},"chainId":${chainId},${proofAttestationMembers(attested, evaluatedAt, keccak)}}`
    return { json, headers: nonceHeaders(attested) }
  }
}

/** The members `attestation`, with the UID its fields have, and `delegatedAttestation`. */
function proofAttestationMembers(attested: Attested, timeSeconds: number, keccak: Keccak): string {
  const { schema, attester, recipient, data, signature, nonce, deadlineSeconds } = attested
  const fields = { schema, attester, recipient, data, revocable: true, refUID: ZERO_UID }
  const uid = attestationUid({ ...fields, timeSeconds, expirationTimeSeconds: 0 }, keccak)
  const attestation = { uid, ...fields, time: timeSeconds, expirationTime: 0, revocationTime: 0, signature }
  const delegatedAttestation = { signature, attester, deadline: deadlineSeconds, nonce }
  return `"attestation":${JSON.stringify(attestation)},"delegatedAttestation":${JSON.stringify(delegatedAttestation)}`
}
