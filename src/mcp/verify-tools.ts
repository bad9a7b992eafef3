import type { Client } from '../client/client.ts'
import { createRecompute } from '../client/recompute.ts'
import { verifyResult } from '../client/verify/verify-result.ts'
import type { EvidenceCheck, VerifyProofResponse, VerifyStampResponse } from '../types/generated.ts'
import {
  type JsonSchema,
  metersText,
  outlineSchema,
  shareText,
  signedText,
  standaloneSchema,
  type Tool,
} from './tool.ts'

/** Maximum number of failed checks in the text; the structured content has all of them. */
const MAX_SHOWN_CHECKS = 8

/** Creates the tools that have the service evaluate evidence. */
export function createVerifyTools(client: Client): Tool[] {
  const { $defs, ...claim } = standaloneSchema('verified-proof.schema.json#/$defs/LocationClaim')
  return [
    {
      name: 'verify_stamp',
      title: 'Verify: one stamp',
      description:
        'Evaluates one location stamp (an observation by one proof-of-location system): its signatures, its structure, its signals. details lists every check.',
      inputSchema: standaloneSchema('verify-request.schema.json#/$defs/VerifyStampRequest'),
      outputSchema: outlineSchema('verify-response.schema.json#/$defs/VerifyStampResponse'),
      async call({ stamp, media }, signal) {
        const response = await client.verify.stamp(stamp, { media, signal })
        return { text: stampText(response), structured: response }
      },
    },
    {
      name: 'verify_proof',
      title: 'Verify: a proof',
      description:
        'Evaluates a location proof (a claim with its stamps) to a vector of numbers: spatial, temporal, validity, independence. There is no single score, and "verified" does not mean true. With options.chainId the evaluation is signed.',
      // submitOnchain is left out: a model must not spend the operator's money.
      inputSchema: {
        type: 'object',
        required: ['proof'],
        properties: {
          proof: { type: 'object', required: ['claim', 'stamps'], properties: { claim, stamps: STAMPS } },
          options: PROOF_OPTIONS,
        },
        ...($defs !== undefined && { $defs }),
      },
      outputSchema: outlineSchema('verify-response.schema.json#/$defs/VerifyProofResponse'),
      async call({ proof, options }, signal) {
        const { chainId, recipient } = options ?? {}
        const response = await client.verify.proof(proof, { chainId, recipient, signal })
        return { text: proofText(response), structured: response }
      },
    },
  ]
}

const STAMPS: JsonSchema = {
  type: 'array',
  minItems: 1,
  maxItems: 64,
  items: { type: 'object', description: 'A stamp as for verify_stamp.' },
}

const PROOF_OPTIONS: JsonSchema = {
  type: 'object',
  properties: {
    chainId: { type: 'integer', minimum: 1, description: 'Signs the evaluation for this chain.' },
    recipient: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'Recipient of the attestation.' },
  },
}

/**
 * Creates the tool that checks a signed response in this process, without trusting the service.
 *
 * @param client used only to read the attester of the service when a call names none; undefined without a service
 */
export function createVerifyResultTool(client: Client | undefined): Tool {
  return {
    name: 'verify_result',
    title: 'Verify: a response',
    description:
      'Checks a signed response (of a compute tool or verify_proof, a batch, an attestation) on this machine: signer, signature, data, deadline. With inputs it also checks the references and computes the result again. Name the attester that you trust; otherwise it is the one that the service names, or, without a service, any.',
    inputSchema: {
      type: 'object',
      required: ['answer'],
      properties: {
        answer: { type: 'object', description: 'The response, complete and unchanged.' },
        attester: { type: 'string', pattern: '^0x[0-9a-fA-F]{40}$', description: 'Address that should have signed.' },
        chainId: { type: 'integer', minimum: 1, description: 'Chain that it should be signed for.' },
        inputs: {
          type: 'array',
          items: { type: 'object' },
          description: 'The inputs of the request, in the order of inputRefs.',
        },
      },
    },
    outputSchema: {
      type: 'object',
      required: ['kind', 'ok', 'checks'],
      properties: {
        kind: { type: 'string' },
        ok: {
          type: 'boolean',
          description: 'True when a signature was verified and no check failed. Read the skipped checks too.',
        },
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
      const head = verdict.ok ? 'verifies' : 'does not verify'
      return {
        text: [`The result ${head}. ${verdict.statement ?? ''}`.trim(), ...lines].join('\n'),
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
    `The stamp is ${valid ? 'valid' : 'not valid'}: signatures ${either(signaturesValid, 'verify', 'do not verify')}, structure ${either(structureValid, 'is valid', 'is not valid')}, signals ${either(signalsConsistent, 'are consistent', 'are not consistent')}.`,
    ...details.signatures.filter(({ ok }) => !ok).map(({ index, reason }) => `signature ${index}: ${reason}`),
    ...failed([...details.structure, ...details.checks]),
  ]
  return parts.join('\n')
}

function failed(checks: readonly EvidenceCheck[]): string[] {
  const lines = checks
    .filter(({ ok, severity }) => !ok && severity !== 'info')
    .map(({ id, severity, measured, limit }) => `${severity} ${id}: ${measured}, expected ${limit}`)
  const more = lines.length - MAX_SHOWN_CHECKS
  return more > 0 ? [...lines.slice(0, MAX_SHOWN_CHECKS), `and ${more} more`] : lines
}

function proofText(response: VerifyProofResponse): string {
  const { dimensions, stampResults, meta } = response.credibility
  const { spatial, temporal, validity, independence } = dimensions
  const parts = [
    `${meta.stampCount} stamps: ${metersText(spatial.meanDistanceMeters)} from the claim on average, ${metersText(spatial.maxDistanceMeters)} at most, ${shareText(spatial.withinRadiusFraction)} within its radius.`,
    `Time: ${shareText(temporal.meanOverlap)} overlap on average. Valid signatures: ${shareText(validity.signaturesValidFraction)}, valid structure: ${shareText(validity.structureValidFraction)}, consistent signals: ${shareText(validity.signalsConsistentFraction)}.`,
    `Independence: ${independence.pluginNames.join(', ')}; the stamps agree to ${shareText(independence.spatialAgreement)}.`,
  ]
  const invalid = stampResults.filter(({ signaturesValid, structureValid }) => !(signaturesValid && structureValid))
  if (invalid.length > 0) parts.push(`Do not trust stamps ${invalid.map(({ stampIndex }) => stampIndex).join(', ')}.`)
  const { attestation, delegatedAttestation, chainId } = response
  if (attestation !== undefined && delegatedAttestation !== undefined && chainId !== undefined) {
    parts.push(signedText(attestation, delegatedAttestation, chainId))
  }
  return parts.join('\n')
}

function either(value: boolean, ifTrue: string, ifFalse: string): string {
  return value ? ifTrue : ifFalse
}
