import { header, json, type Operation, type OperationTable, pathParameter, schemaRef } from './operation.ts'

const REFUSALS = [400, 401, 408, 413, 415, 429, 500, 501, 503]

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'Of a proof that the service submits itself: the same key names the same attestation, so that sending again pays nothing twice.',
  { type: 'string', minLength: 1, maxLength: 255 },
)

/** Evidence: one stamp, a claim with its stamps, and what became of what was submitted. */
export const VERIFY_OPERATIONS: OperationTable = {
  'POST /verify/v0/stamp': {
    tag: 'Verify',
    operationId: 'verifyStamp',
    summary: 'Judge one stamp',
    description:
      'Signatures, form and signals of one piece of evidence. A stamp that is not valid is an answer (200, `valid: false`): every ' +
      'check that was made stands in `details` with what was measured and its limit.',
    body: { content: json(schemaRef('VerifyStampRequest')) },
    answers: { 200: { description: 'The verdict.', content: json(schemaRef('VerifyStampResponse')) } },
    refusals: REFUSALS,
    family: 'problem',
    counts: true,
  },
  'POST /verify/v0/proof': {
    tag: 'Verify',
    operationId: 'verifyProof',
    summary: 'Judge a proof',
    description:
      'Each stamp by itself, then all of them against the claim and each other, as a vector of measures; no single score. With ' +
      '`options.chainId` the vector is signed for that chain, with `options.submitOnchain` also submitted where the operator ' +
      'offers it.',
    parameters: [IDEMPOTENCY_KEY],
    body: { content: json(schemaRef('VerifyProofRequest')) },
    answers: {
      200: {
        description: 'The proof with its credibility; with a chain the attestation of it.',
        content: json(schemaRef('VerifyProofResponse')),
        headers: ['X-Attester-Nonce-Source'],
      },
    },
    refusals: [...REFUSALS, 409],
    family: 'problem',
    counts: true,
  },
  'GET /verify/v0/submissions/:id': {
    tag: 'Verify',
    operationId: 'submission',
    summary: 'What became of a submission',
    parameters: [pathParameter('id', 'As `submission.id` says it.', { type: 'string', pattern: '^[0-9a-f]{32}$' })],
    answers: { 200: { description: 'Its state.', content: json(schemaRef('Submission')) } },
    refusals: [401, 404, 429, 500],
    family: 'problem',
    counts: true,
  },
  'GET /verify/v0/plugins': {
    tag: 'Verify',
    operationId: 'plugins',
    summary: 'Kinds of evidence',
    answers: { 200: { description: 'What is judged here.', content: json(schemaRef('PluginList')) } },
    family: 'problem',
  },
  'GET /verify/v0': {
    tag: 'Verify',
    operationId: 'verifyIndex',
    summary: 'Routes of the verify API',
    answers: { 200: { description: 'The list.', content: json(schemaRef('FolderIndex')) } },
    family: 'problem',
  },
  'POST /v1/verify/stamp': older(
    'olderVerifyStamp',
    'Judge one stamp',
    'VerifyStampRequest',
    'VerifyStampResponse',
    [422],
  ),
  'POST /v1/verify/proof': older(
    'olderVerifyProof',
    'Judge a proof',
    'VerifyProofRequest',
    'OlderProofResponse',
    [409, 422],
  ),
  'GET /v1/verify/plugins': {
    tag: 'Older verify',
    operationId: 'olderPlugins',
    summary: 'Kinds of evidence',
    answers: {
      200: {
        description: 'With the older names of environments.',
        content: json(schemaRef('PluginList')),
        headers: ['Deprecation'],
      },
    },
    refusals: [404],
    family: 'older',
    deprecated: true,
  },
}

function older(
  operationId: string,
  summary: string,
  request: string,
  response: string,
  refusals: readonly number[],
): Operation {
  return {
    tag: 'Older verify',
    operationId,
    summary,
    body: { content: json(schemaRef(request)) },
    answers: {
      200: {
        description: 'The verdict.',
        content: json(schemaRef(response)),
        headers: ['Deprecation', 'X-Attester-Nonce-Source'],
      },
    },
    // 404 where the operator turned the older generation off.
    refusals: [...REFUSALS, 404, ...refusals],
    family: 'older',
    counts: true,
    deprecated: true,
  }
}
