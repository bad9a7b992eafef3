import {
  folderIndex,
  header,
  json,
  type Operation,
  type OperationTable,
  ok,
  pathParameter,
  schemaRef,
} from './operation.ts'

const ERROR_STATUSES = [400, 401, 408, 413, 415, 422, 429, 500, 501, 503]

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'For a proof that the service submits itself: the same key refers to the same attestation, so a retry never pays twice.',
  { type: 'string', minLength: 1, maxLength: 255 },
)

const SUBMISSION_ID = pathParameter('id', 'Value of `submission.id`.', { type: 'string', pattern: '^[0-9a-f]{32}$' })

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
    responses: ok('The result of the verification.', json(schemaRef('VerifyStampResponse'))),
    errorStatuses: ERROR_STATUSES,
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
    responses: ok(
      'The proof with its credibility; with a chain also the attestation.',
      json(schemaRef('VerifyProofResponse')),
      ['X-Attester-Nonce-Source'],
    ),
    errorStatuses: [...ERROR_STATUSES, 409],
    counts: true,
  },
  'GET /verify/v0/submissions/:id': {
    tag: 'Verify',
    operationId: 'submission',
    summary: 'State of a submission',
    parameters: [SUBMISSION_ID],
    responses: ok('The state.', json(schemaRef('Submission'))),
    errorStatuses: [401, 404, 429, 500],
    counts: true,
  },
  'GET /verify/v0/submissions/:id/events': {
    tag: 'Verify',
    operationId: 'submissionEvents',
    summary: 'States of a submission',
    description:
      'Server-sent events of the type `submission` whose data is the state of the submission: one now, and one at each change until it is ' +
      '`finalized` or `failed`. If the stream ends before that, open it again.',
    parameters: [SUBMISSION_ID],
    responses: ok('Events.', { 'text/event-stream': { type: 'string' } }),
    errorStatuses: [401, 404, 429, 500, 503],
    counts: true,
  },
  'GET /verify/v0/plugins': {
    tag: 'Verify',
    operationId: 'plugins',
    summary: 'List plugins',
    responses: ok('The plugins of this service.', json(schemaRef('PluginList'))),
  },
  'GET /verify/v0': folderIndex('Verify', 'verifyIndex', 'Routes of the verify API'),
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
    responses: ok('The plugins, with the older names of environments.', json(schemaRef('PluginList')), ['Deprecation']),
    errorStatuses: [404],
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
    responses: ok('The result of the verification.', json(schemaRef(response)), [
      'Deprecation',
      'X-Attester-Nonce-Source',
    ]),
    // 404 if the operator turned the older generation off.
    errorStatuses: [...ERROR_STATUSES, 404, ...errorStatuses],
    counts: true,
    deprecated: true,
  }
}
