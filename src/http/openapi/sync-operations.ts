import { json, type Operation, type OperationTable, query, schemaRef } from './operation.ts'

const SUCCESS = json(schemaRef('SyncOutcome'))

function internal(
  operation: Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters' | 'responses'>,
  errorStatuses: readonly number[],
): Operation {
  return { tag: 'Sync', ...operation, errorStatuses: [403, ...errorStatuses], family: 'record', isInternal: true }
}

/** Operations that control the reading of chains; internal to the deployment. */
export const SYNC_OPERATIONS: OperationTable = {
  'POST /api/sync': internal(
    {
      operationId: 'sync',
      summary: 'Read the chains now',
      parameters: [query('chain', 'Reads only this chain.', { type: 'string' }, 'celo')],
      responses: {
        200: { description: 'One chain was read and its attestations are stored.', content: SUCCESS },
        202: { description: 'Reading has started: of all chains, or of one that takes longer.', content: SUCCESS },
      },
    },
    [400, 409, 500, 503],
  ),
  'GET /api/sync/status': internal(
    {
      operationId: 'syncStatus',
      summary: 'How far each chain has been read',
      responses: {
        200: { description: 'The status.', content: json(schemaRef('SyncStatus')) },
        500: { description: 'The status could not be read.', content: json(schemaRef('SyncStatusError')) },
      },
    },
    [],
  ),
  'GET /api/sync/events': internal(
    {
      operationId: 'syncEvents',
      summary: 'The status after each change',
      responses: {
        200: { description: 'Server-sent events `status`.', content: { 'text/event-stream': { type: 'string' } } },
      },
    },
    [500, 503],
  ),
  'POST /api/sync/revocations': internal(
    {
      operationId: 'syncRevocations',
      summary: 'Check all valid records for revocation',
      responses: { 202: { description: 'The check has started.', content: SUCCESS } },
    },
    [400, 409, 500, 503],
  ),
  'POST /api/sync/worker': internal(
    {
      operationId: 'syncWorker',
      summary: 'Start or stop the background worker',
      parameters: [
        {
          ...query('action', 'What the worker should do.', { type: 'string', enum: ['start', 'stop'] }, 'start'),
          required: true,
        },
      ],
      responses: { 200: { description: 'Done, even if nothing changed.', content: SUCCESS } },
    },
    [400, 500, 503],
  ),
}
