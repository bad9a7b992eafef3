import { attestationUid, ZERO_UID } from '../../attest/uid.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { Keccak } from '../../crypto/primitives.ts'
import type { SignerClient } from '../../threads/signer-client.ts'
import { listPlugins, type PluginDescription } from '../../verify/plugins/plugin-table.ts'
import type { AddedPlugin, ProofAttestationRequest, VerifyResult, VerifyTask } from '../../wire/evidence-messages.ts'
import type { Hex } from '../../wire/values.ts'
import type { ChainPolicy } from '../chains/chain-policy.ts'
import { submissionJson } from '../chains/submission-state.ts'
import type { SubmissionService } from '../chains/submissions.ts'
import { type Attested, attest, nonceHeaders } from '../compute/signed-answer.ts'
import type { RequestContext, SubmissionCaller } from '../request.ts'
import type { Services } from '../services.ts'
import type { EvidenceRunner } from './evidence.ts'

export interface VerifyServiceParts {
  readonly config: Config
  readonly runEvidence: EvidenceRunner
  /** Plugins that the operator adds. */
  readonly addedPlugins: readonly AddedPlugin[]
  readonly chains: ChainPolicy
  readonly signer: Pick<SignerClient, 'address' | 'sign'>
  readonly keccak: Keccak
  readonly submissions: Pick<SubmissionService, 'require' | 'submit'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
}

type Verified = Extract<VerifyResult, { ok: true }>

const ZERO_ADDRESS: Hex = `0x${'0'.repeat(40)}`

/**
 * Makes the service for stamps and proofs. Compute threads verify them; the service has the result signed if the request names a
 * chain.
 */
export function createVerifyService(
  parts: VerifyServiceParts,
): Pick<Services, 'verifyStamp' | 'verifyProof' | 'pluginsJson' | 'olderVerify'> {
  const { runEvidence, chains, signer, keccak, now } = parts
  return {
    async verifyStamp(body, context) {
      const { members } = await run(runEvidence, { kind: 'stamp', body, nowSeconds: nowSeconds() }, context)
      return { json: `{${members}}` }
    },
    async verifyProof(body, context, caller) {
      const evaluatedAt = nowSeconds()
      const task = { kind: 'proof', body, nowSeconds: evaluatedAt } as const
      const { members, attest: request, data } = await run(runEvidence, task, context)
      if (request === undefined) return { json: `{${members}}` }
      const { chainId } = request
      const signed = await sign(parts, request, data!, evaluatedAt, context, caller)
      return { json: `{${members},"chainId":${chainId},${signed.members}}`, headers: signed.headers }
    },
    pluginsJson: pluginsJson(parts, ({ environments }) => environments),
    olderVerify: {
      async stamp(body, context) {
        const { members } = await run(runEvidence, { kind: 'older-stamp', body, nowSeconds: nowSeconds() }, context)
        return { json: `{${members}}` }
      },
      async proof(body, context, caller) {
        const timestamp = nowSeconds()
        const {
          members,
          attest: request,
          data,
        } = await run(runEvidence, { kind: 'older-proof', body, nowSeconds: timestamp }, context)
        const head = (uid: Hex) => `${members},"uid":"${uid}","attester":"${signer.address}","timestamp":${timestamp}`
        if (request !== undefined) {
          const signed = await sign(parts, request, data!, timestamp, context, caller)
          const chainId = signed.isOnChain ? `,"chainId":${request.chainId}` : ''
          return { json: `{${head(signed.uid)}${chainId},${signed.members}}`, headers: signed.headers }
        }
        const schema = chains.defaultSchema('verify')
        const fields = attestationFields({ schema, attester: signer.address, data: data!, recipient: ZERO_ADDRESS })
        return { json: `{${head(attestationUid({ ...fields, ...attestationTimes(timestamp) }, keccak))}}` }
      },
      pluginsJson: pluginsJson(parts, ({ environments }) => [
        ...new Set(environments.flatMap((name) => OLDER_ENVIRONMENTS[name] ?? [name])),
      ]),
    },
  }

  function nowSeconds(): number {
    return Math.floor(now() / 1000)
  }
}

function pluginsJson(
  { config, addedPlugins }: VerifyServiceParts,
  environmentNames: (plugin: PluginDescription) => readonly string[],
): string {
  const plugins = listPlugins({ allowMock: config.allowMock, plugins: addedPlugins }).map((plugin) => {
    const { name, version, description } = plugin
    return { name, version, environments: environmentNames(plugin), description }
  })
  return JSON.stringify({ plugins })
}

async function run(runEvidence: EvidenceRunner, task: VerifyTask, context: RequestContext): Promise<Verified> {
  const result = await runEvidence(task, context)
  if (!result.ok) throw new ProblemError(result.problem)
  return result
}

/**
 * Signs the attestation of a proof, and submits it if the request asks for that. Returns the members `attestation` and
 * `delegatedAttestation`, and `submission` if the service submits the attestation itself.
 */
async function sign(
  { chains, signer, submissions, keccak }: VerifyServiceParts,
  { chainId, recipient, submitOnchain }: ProofAttestationRequest,
  data: Hex,
  timeSeconds: number,
  context: RequestContext,
  caller: SubmissionCaller,
): Promise<{ uid: Hex; members: string; isOnChain: boolean; headers: Readonly<Record<string, string>> }> {
  chains.require(chainId, ['options', 'chainId'])
  if (submitOnchain) submissions.require(chainId, caller)
  const schema = chains.defaultSchema('verify')
  const payload = { kind: 'verify', chainId, schema, recipient, data } as const
  const attested = await attest(payload, signer)
  const headers = nonceHeaders(attested)
  const offchainUid = attestationUid({ ...attestationFields(attested), ...attestationTimes(timeSeconds) }, keccak)
  if (!submitOnchain) {
    const members = proofAttestationMembers(attested, offchainUid, timeSeconds)
    return { uid: offchainUid, members, isOnChain: false, headers }
  }
  const submission = await submissions.submit(payload, caller, context)
  // Once the attestation is on the chain, the time of its block determines `time` and the UID.
  const { uid = offchainUid, timeSeconds: time = timeSeconds } = submission
  const members = `${proofAttestationMembers(attested, uid, time)},"submission":${JSON.stringify(submissionJson(submission))}`
  return { uid, members, isOnChain: submission.blockNumber !== undefined, headers }
}

/** The names of environments in the previous API generation. */
const OLDER_ENVIRONMENTS: Readonly<Record<string, readonly string[]>> = {
  mobile: ['iOS', 'Android', 'React Native'],
  server: ['Node.js'],
  node: ['Node.js'],
}

type Fields = Pick<Attested, 'schema' | 'attester' | 'recipient' | 'data'>

function attestationFields({ schema, attester, recipient, data }: Fields) {
  return { schema, attester, recipient, data, revocable: true, refUID: ZERO_UID }
}

function attestationTimes(timeSeconds: number) {
  return { timeSeconds, expirationTimeSeconds: 0 }
}

/** Returns the members `attestation` and `delegatedAttestation`. */
function proofAttestationMembers(attested: Attested, uid: Hex, timeSeconds: number): string {
  const { attester, signature, nonce, deadlineSeconds } = attested
  const fields = attestationFields(attested)
  const attestation = { uid, ...fields, time: timeSeconds, expirationTime: 0, revocationTime: 0, signature }
  const delegatedAttestation = { signature, attester, deadline: deadlineSeconds, nonce }
  return `"attestation":${JSON.stringify(attestation)},"delegatedAttestation":${JSON.stringify(delegatedAttestation)}`
}
