import { header, json, type Operation, type OperationTable, pathParameter, schemaRef } from './operation.ts'

const ERROR_STATUSES = [400, 401, 408, 413, 415, 429, 500, 501, 503]

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'For a proof that the service submits itself: the same key refers to the same attestation, so a retry never pays twice.',
  { type: 'string', minLength: 1, maxLength: 255 },
)

/** Operations on evidence: stamps, proofs, submissions, plugins, in both generations. */
export const VERIFY_OPERATIONS: OperationTable = {
  'POST /verify/v0/stamp': {
    tag: 'Verify',
    operationId: 'verifyStamp',
    summary: 'Verify one stamp',
    description:
      'Checks the signatures, structure and signals of one piece of evidence. An invalid stamp is not an error: the status is ' +
      '200 with `valid: false`. `details` lists every check with the measured value and its limit.',
    body: { content: json(schemaRef('VerifyStampRequest')) },
    responses: {
      200: { description: 'The result of the verification.', content: json(schemaRef('VerifyStampResponse')) },
    },
    errorStatuses: ERROR_STATUSES,
    family: 'problem',
    counts: true,
  },
  'POST /verify/v0/proof': {
    tag: 'Verify',
    operationId: 'verifyProof',
    summary: 'Verify a proof',
    description:
      'Verifies each stamp, then compares all stamps with the claim and with each other. The result is a vector of measures, not ' +
      'a single score. With `options.chainId`, the vector is signed for that chain. With `options.submitOnchain`, it is also ' +
      'submitted, if the operator offers this.',
    parameters: [IDEMPOTENCY_KEY],
    body: { content: json(schemaRef('VerifyProofRequest')) },
    responses: {
      200: {
        description: 'The proof with its credibility; with a chain also the attestation.',
        content: json(schemaRef('VerifyProofResponse')),
        headers: ['X-Attester-Nonce-Source'],
      },
    },
    errorStatuses: [...ERROR_STATUSES, 409],
    family: 'problem',
    counts: true,
  },
  'GET /verify/v0/submissions/:id': {
    tag: 'Verify',
    operationId: 'submission',
    summary: 'State of a submission',
    parameters: [pathParameter('id', 'Value of `submission.id`.', { type: 'string', pattern: '^[0-9a-f]{32}$' })],
    responses: { 200: { description: 'The state.', content: json(schemaRef('Submission')) } },
    errorStatuses: [401, 404, 429, 500],
    family: 'problem',
    counts: true,
  },
  'GET /verify/v0/plugins': {
    tag: 'Verify',
    operationId: 'plugins',
    summary: 'List plugins',
    responses: { 200: { description: 'The plugins of this service.', content: json(schemaRef('PluginList')) } },
    family: 'problem',
  },
  'GET /verify/v0': {
    tag: 'Verify',
    operationId: 'verifyIndex',
    summary: 'Routes of the verify API',
    responses: { 200: { description: 'The routes.', content: json(schemaRef('FolderIndex')) } },
    family: 'problem',
  },
  'POST /v1/verify/stamp': older(
    'olderVerifyStamp',
    'Verify one stamp',
    'VerifyStampRequest',
    'VerifyStampResponse',
    [422],
  ),
  'POST /v1/verify/proof': older(
    'olderVerifyProof',
    'Verify a proof',
    'VerifyProofRequest',
    'OlderProofResponse',
    [409, 422],
  ),
  'GET /v1/verify/plugins': {
    tag: 'Older verify',
    operationId: 'olderPlugins',
    summary: 'List plugins',
    responses: {
      200: {
        description: 'The plugins, with the older names of environments.',
        content: json(schemaRef('PluginList')),
        headers: ['Deprecation'],
      },
    },
    errorStatuses: [404],
    family: 'older',
    deprecated: true,
  },
}

function older(
  operationId: string,
  summary: string,
  request: string,
  response: string,
  errorStatuses: readonly number[],
): Operation {
  return {
    tag: 'Older verify',
    operationId,
    summary,
    body: { content: json(schemaRef(request)) },
    responses: {
      200: {
        description: 'The result of the verification.',
        content: json(schemaRef(response)),
        headers: ['Deprecation', 'X-Attester-Nonce-Source'],
      },
    },
    // 404 if the operator turned the older generation off.
    errorStatuses: [...ERROR_STATUSES, 404, ...errorStatuses],
    family: 'older',
    counts: true,
    deprecated: true,
  }
}
