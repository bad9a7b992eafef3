import type { Client } from '../client/client.ts'
import { createRecompute } from '../client/recompute.ts'
import { verifyResult } from '../client/verify-result.ts'
import type { EvidenceCheck, VerifyProofResponse, VerifyStampResponse } from '../types/generated.ts'
import { standaloneSchema } from './standalone-schema.ts'
import type { JsonSchema, Tool } from './tool.ts'
import { metersText, shareText, signedText } from './words.ts'

/** Most failed checks that a text names; all of them stand beside it. */
const MOST_NAMED = 8

/** Tools that judge evidence, by the service. */
export function verifyTools(client: Client): Tool[] {
  const { properties, ...proofRequest } = standaloneSchema('verify-request.schema.json#/$defs/VerifyProofRequest')
  return [
    {
      name: 'verify_stamp',
      title: 'Verify: one stamp',
      description:
        'Judges one location stamp (an observation by one proof-of-location system): its signatures, its form, its signals. Every check stands in details.',
      inputSchema: standaloneSchema('verify-request.schema.json#/$defs/VerifyStampRequest'),
      outputSchema: standaloneSchema('verify-response.schema.json#/$defs/VerifyStampResponse'),
      async call({ stamp, media }, signal) {
        const answer = await client.verify.stamp(stamp, { media, signal })
        return { text: stampText(answer), structured: answer }
      },
    },
    {
      name: 'verify_proof',
      title: 'Verify: a proof',
      description:
        'Judges a location proof (a claim with its stamps) into a vector of numbers: spatial, temporal, validity, independence. There is no single score, and "verified" does not mean true. With options.chainId the outcome is signed.',
      // Without submitOnchain: a model does not spend the operator's money.
      inputSchema: {
        ...proofRequest,
        properties: { proof: (properties as Record<string, unknown>)['proof'], options: PROOF_OPTIONS },
      },
      outputSchema: standaloneSchema('verify-response.schema.json#/$defs/VerifyProofResponse'),
      async call({ proof, options }, signal) {
        const { chainId, recipient } = options ?? {}
        const answer = await client.verify.proof(proof, { chainId, recipient, signal })
        return { text: proofText(answer), structured: answer }
      },
    },
  ]
}

const PROOF_OPTIONS: JsonSchema = {
  type: 'object',
  properties: {
    chainId: { type: 'integer', minimum: 1, description: 'Signs the outcome for this chain.' },
    recipient: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'Of the attestation.' },
  },
}

/**
 * The tool that checks an answer in this process, without trusting who answered.
 *
 * @param client asked for nothing but who signs there, when no attester is named; undefined without a service
 */
export function verifyResultTool(client: Client | undefined): Tool {
  return {
    name: 'verify_result',
    title: 'Verify: an answer',
    description:
      'Checks a signed answer (of a compute or verify_proof tool, a batch, an attestation) on this machine: signer, signature, data, deadline; with inputs also the references, and the result computed again. Name the attester you trust; else it is the one that the service names, or anybody.',
    inputSchema: {
      type: 'object',
      required: ['answer'],
      properties: {
        answer: { type: 'object', description: 'The answer, whole and unchanged.' },
        attester: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'Address that should have signed.' },
        chainId: { type: 'integer', minimum: 1, description: 'Chain that it should be signed for.' },
        inputs: { type: 'array', items: { type: 'object' }, description: 'What was asked, in the order of inputRefs.' },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['kind', 'ok', 'checks'],
      properties: {
        kind: { type: 'string' },
        ok: { type: 'boolean', description: 'Something was signed and no check fails; read the skipped ones.' },
        checks: {
          type: 'array',
          items: {
            type: 'object',
            required: ['id', 'status', 'detail'],
            properties: {
              id: { type: 'string' },
              status: { enum: ['pass', 'fail', 'skip'] },
              detail: { type: 'string' },
            },
          },
        },
        statement: { type: 'string' },
        signer: { type: 'string' },
        chainId: { type: 'integer' },
      },
    },
    async call({ answer, attester, chainId, inputs }, signal) {
      const issuer = attester === undefined ? await client?.issuer({ signal }) : undefined
      const recompute = inputs === undefined ? undefined : createRecompute()
      const verdict = await verifyResult(answer, { attester, chainId, inputs, issuer, recompute })
      const lines = verdict.checks.map(({ id, status, detail }) => `${status} ${id}: ${detail}`)
      const head = verdict.ok ? 'holds' : 'does not hold'
      return {
        text: [`The answer ${head}. ${verdict.statement ?? ''}`.trim(), ...lines].join('\n'),
        structured: verdict,
      }
    },
  }
}

function stampText({
  valid,
  signaturesValid,
  structureValid,
  signalsConsistent,
  details,
}: VerifyStampResponse): string {
  const parts = [
    `The stamp is ${valid ? 'valid' : 'not valid'}: signatures ${yes(signaturesValid, 'verify', 'do not verify')}, form ${yes(structureValid, 'holds', 'does not hold')}, signals ${yes(signalsConsistent, 'are consistent', 'are not consistent')}.`,
    ...details.signatures.filter(({ ok }) => !ok).map(({ index, reason }) => `signature ${index}: ${reason}`),
    ...failed([...details.structure, ...details.checks]),
  ]
  return parts.join('\n')
}

function failed(checks: readonly EvidenceCheck[]): string[] {
  const lines = checks
    .filter(({ ok, severity }) => !ok && severity !== 'info')
    .map(({ id, severity, measured, limit }) => `${severity} ${id}: ${measured}, wanted ${limit}`)
  const more = lines.length - MOST_NAMED
  return more > 0 ? [...lines.slice(0, MOST_NAMED), `and ${more} more`] : lines
}

function proofText(answer: VerifyProofResponse): string {
  const { dimensions, stampResults, meta } = answer.credibility
  const { spatial, temporal, validity, independence } = dimensions
  const parts = [
    `${meta.stampCount} stamps: ${metersText(spatial.meanDistanceMeters)} from the claim on average, ${metersText(spatial.maxDistanceMeters)} at most, ${shareText(spatial.withinRadiusFraction)} within its radius.`,
    `Time: ${shareText(temporal.meanOverlap)} overlap on average. Valid: ${shareText(validity.signaturesValidFraction)} of signatures, ${shareText(validity.structureValidFraction)} of forms, ${shareText(validity.signalsConsistentFraction)} of signals.`,
    `Independence: ${independence.pluginNames.join(', ')}; the stamps agree to ${shareText(independence.spatialAgreement)}.`,
  ]
  const bad = stampResults.filter(({ signaturesValid, structureValid }) => !(signaturesValid && structureValid))
  if (bad.length > 0) parts.push(`Not to be believed: stamps ${bad.map(({ stampIndex }) => stampIndex).join(', ')}.`)
  const { attestation, delegatedAttestation, chainId } = answer
  if (attestation !== undefined && delegatedAttestation !== undefined && chainId !== undefined) {
    parts.push(signedText(attestation, delegatedAttestation, chainId))
  }
  return parts.join('\n')
}

function yes(value: boolean, then: string, otherwise: string): string {
  return value ? then : otherwise
}
