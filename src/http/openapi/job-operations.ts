import { lineOptions } from './compute-operations.ts'
import { json, type Operation, type OperationTable, ok, pathParameter, query, schemaRef } from './operation.ts'

const ID = pathParameter('id', 'The id of the job.', { type: 'string', pattern: '^[0-9a-f]{32}$' })
const FROM = query('from', 'Index of the first operation; 0 by default.', { type: 'integer', minimum: 0 }, 0)
const MORE = query('more', 'NDJSON only. true: the end of the body does not end the upload.', { type: 'boolean' })
const SUBMIT =
  'NDJSON only. true: the service submits the results to the chain; with attest merkle, one attestation of their root when the ' +
  'job is done. In JSON this is options.submitOnchain.'
const LINES = { type: 'string', description: 'One BatchItem per line.' }
const ERROR_STATUSES = [400, 401, 404, 429, 500, 501, 503]
const UPLOAD_STATUSES = [...ERROR_STATUSES, 408, 409, 413, 415]

function read(
  operationId: string,
  summary: string,
  description: string,
  responses: Operation['responses'],
  parameters: Operation['parameters'] = [],
): Operation {
  const common = { tag: 'Compute', needsKey: true, errorStatuses: ERROR_STATUSES } as const
  return { ...common, operationId, summary, description, parameters: [ID, ...parameters], responses }
}

const upload = (description: string): Operation['responses'] => ({
  202: { description, content: json(schemaRef('Job')), headers: ['Location'] },
})

/** Batches that the store keeps and computes in the background. */
export const JOB_OPERATIONS: OperationTable = {
  'POST /compute/v0/jobs': {
    tag: 'Compute',
    operationId: 'createJob',
    summary: 'Create a job',
    description:
      'Stores a batch of up to 5,000,000 operations and computes it in the background. The body is the same as for ' +
      '`POST /compute/v0/batch`: JSON, or `application/x-ndjson` with the options in the query. The job belongs to the API key. ' +
      'Its operations count towards a daily quota of the key, not towards the hourly limit. Its bytes are charged.',
    parameters: [
      ...lineOptions('each (results without a nonce), merkle or none.'),
      query('submitOnchain', SUBMIT, { type: 'boolean' }),
      MORE,
      {
        name: 'Idempotency-Key',
        in: 'header',
        description: 'A repeated upload with the same key gives the same job, and adds only operations that it lacks.',
        schema: { type: 'string', minLength: 1, maxLength: 255 },
      },
    ],
    body: { content: { 'application/json': schemaRef('BatchRequest'), 'application/x-ndjson': LINES } },
    responses: upload('The job.'),
    errorStatuses: UPLOAD_STATUSES,
    counts: true,
    needsKey: true,
  },
  'PUT /compute/v0/jobs/:id/input': {
    tag: 'Compute',
    operationId: 'continueJob',
    summary: 'Continue an upload',
    description:
      'Adds operations to a job whose upload broke off, as NDJSON. `received` in the state of the job tells where to continue. ' +
      'Operations that the job has already are skipped. The end of the body ends the upload, unless `more` is true.',
    parameters: [ID, FROM, MORE],
    body: { required: false, content: { 'application/x-ndjson': LINES } },
    responses: upload('The job.'),
    errorStatuses: UPLOAD_STATUSES,
    counts: true,
    needsKey: true,
  },
  'GET /compute/v0/jobs': {
    tag: 'Compute',
    operationId: 'listJobs',
    summary: 'Your jobs',
    responses: ok('The jobs of the API key.', json(schemaRef('JobList'))),
    errorStatuses: [401, 429, 500, 501, 503],
    needsKey: true,
  },
  'GET /compute/v0/jobs/:id': read(
    'jobState',
    'State of a job',
    'State, progress and estimated time.',
    ok('The job.', json(schemaRef('Job'))),
  ),
  'DELETE /compute/v0/jobs/:id': {
    ...read(
      'cancelJob',
      'Cancel a job',
      'Operations that are not computed are dropped. Results that are there can be read until the job is deleted. A job that is ' +
        'done stays done.',
      ok('The job.', json(schemaRef('Job'))),
    ),
    errorStatuses: ERROR_STATUSES.filter((status) => status !== 429),
  },
  'GET /compute/v0/jobs/:id/results': read(
    'jobResults',
    'Results of a job',
    'One line for each operation, in order, as in an NDJSON batch. The response ends where results are missing; continue with ' +
      '`from`, the number of lines that you have. A `from` beyond the operations of the job is 404.',
    ok('Results.', { 'application/x-ndjson': { type: 'string', description: 'One BatchResult per line.' } }),
    [
      FROM,
      query('follow', 'true: waits for the results of a job that runs. Blank lines keep the connection open.', {
        type: 'boolean',
      }),
    ],
  ),
  'GET /compute/v0/jobs/:id/events': read(
    'jobEvents',
    'Progress of a job',
    'Server-sent events of the type `progress` whose data is the state of the job, until it is final.',
    ok('Events.', { 'text/event-stream': { type: 'string' } }),
  ),
  'GET /compute/v0/jobs/:id/attestation': {
    ...read(
      'jobAttestation',
      'Attestation of the Merkle root of a job',
      'Signed for this request, with the current nonce and a new deadline. Only for a job with attest merkle that is done. ' +
        'If the service submits the root itself, the data is what it submits, and `submission` is the state of that.',
      ok('The root and its attestation.', json(schemaRef('JobAttestation')), ['X-Attester-Nonce-Source']),
    ),
    errorStatuses: [...ERROR_STATUSES, 409],
  },
  'GET /compute/v0/jobs/:id/results/:operation/proof': {
    ...read(
      'jobProof',
      'Merkle proof of a result',
      'Only for a job with attest merkle that is done.',
      ok('The proof.', json(schemaRef('JobProof'))),
      [pathParameter('operation', 'Index of the operation.', { type: 'integer', minimum: 0 }, 0)],
    ),
    errorStatuses: [...ERROR_STATUSES, 409],
  },
}
