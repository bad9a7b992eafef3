import { json, type Operation, type OperationTable, pathParameter, query, schemaRef } from './operation.ts'

export const KEY_ID = pathParameter('id', 'The id of the key.', { type: 'string' }, '3083d71b8f7f')
export const OVERLAP_SECONDS = query(
  'overlapSeconds',
  'How long the old key stays valid; 0 revokes it at once.',
  { type: 'integer', minimum: 0, maximum: 7_776_000, default: 86_400 },
  3600,
)
const ERROR_STATUSES = [401, 403, 429, 500, 503]

const USAGE_PARAMETERS = [
  query('from', 'First day, in UTC; 29 days before `to` by default.', { type: 'string' }, '2030-12-01'),
  query('to', 'Last day, which is included; today by default.', { type: 'string' }, '2030-12-31'),
  query('format', 'Instead of the format that Accept prefers.', { enum: ['json', 'csv'] }, 'json'),
]
const USAGE_RESPONSES: Operation['responses'] = {
  200: {
    description: 'The usage by day and kind of request.',
    content: { ...json(schemaRef('KeyUsage')), 'text/csv': { type: 'string' } },
    headers: ['X-Complete-Until'],
  },
}

function manage(
  operationId: string,
  summary: string,
  status: number,
  description: string,
  schema: string,
  more: Partial<Operation> = {},
): Operation {
  return {
    tag: 'Keys',
    operationId,
    summary,
    responses: { [status]: { description, content: json(schemaRef(schema)) } },
    counts: true,
    needsKey: true,
    errorStatuses: ERROR_STATUSES,
    ...more,
  }
}

/** API keys in the database or, without a PostgreSQL server, in the key file. */
export const KEY_OPERATIONS: OperationTable = {
  'GET /account/usage': manage('getOwnUsage', 'What your API key used', 200, '', 'KeyUsage', {
    description:
      'At most 400 days at a time. Any key may ask for its own usage; that of an account counts with its other keys and its sessions.',
    parameters: USAGE_PARAMETERS,
    responses: USAGE_RESPONSES,
    errorStatuses: [400, ...ERROR_STATUSES],
  }),
  'GET /admin/keys/:id/usage': manage('getKeyUsage', 'What an API key used', 200, '', 'KeyUsage', {
    description:
      'The id `public` stands for all requests without a valid key, `others` for keys that were too many to be counted apart. The key of an account shows what the whole account used.',
    parameters: [KEY_ID, ...USAGE_PARAMETERS],
    responses: USAGE_RESPONSES,
    errorStatuses: [400, 404, ...ERROR_STATUSES],
  }),
  'GET /admin/keys': manage(
    'listKeys',
    'All API keys',
    200,
    'The keys, without their secrets, oldest first.',
    'KeyList',
  ),
  'POST /admin/keys': manage('addKey', 'Add an API key', 201, 'The key, which no other response shows.', 'NewKey', {
    description: 'Every process of the service accepts the key within a second. Only its SHA-256 is stored.',
    body: { content: json(schemaRef('KeyRequest')) },
    errorStatuses: [400, 409, 413, ...ERROR_STATUSES],
  }),
  'POST /admin/keys/:id/rotate': manage(
    'rotateKey',
    'Replace an API key',
    201,
    'A new key with the same properties, which no other response shows.',
    'NewKey',
    {
      parameters: [KEY_ID, OVERLAP_SECONDS],
      errorStatuses: [400, 404, 409, ...ERROR_STATUSES],
    },
  ),
  'DELETE /admin/keys/:id': manage('revokeKey', 'Revoke an API key', 200, 'The key was revoked.', 'RevokedKey', {
    description: 'No process of the service accepts the key after a second.',
    parameters: [KEY_ID],
    errorStatuses: [404, ...ERROR_STATUSES],
  }),
}
