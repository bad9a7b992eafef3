import { json, type Operation, type OperationTable, query, schemaRef } from './operation.ts'

const SUCCESS = json(schemaRef('SyncOutcome'))

function internal(
  operation: Pick<Operation, 'operationId' | 'summary' | 'description' | 'parameters' | 'answers'>,
  refusals: readonly number[],
): Operation {
  return { tag: 'Sync', ...operation, refusals: [403, ...refusals], family: 'record', isInternal: true }
}

/** How chains become records: for the deployment itself. */
export const SYNC_OPERATIONS: OperationTable = {
  'POST /api/sync': internal(
    {
      operationId: 'sync',
      summary: 'Read the chains now',
      parameters: [query('chain', 'One chain alone.', { type: 'string' }, 'celo')],
      answers: {
        200: { description: 'One chain: its attestations are stored.', content: SUCCESS },
        202: { description: 'All chains, or one that takes longer: begun.', content: SUCCESS },
      },
    },
    [400, 409, 500, 503],
  ),
  'GET /api/sync/status': internal(
    {
      operationId: 'syncStatus',
      summary: 'How far the chains are read',
      answers: {
        200: { description: 'The state.', content: json(schemaRef('SyncStatus')) },
        500: { description: 'The state could not be read.', content: json(schemaRef('SyncStatusError')) },
      },
    },
    [],
  ),
  'GET /api/sync/events': internal(
    {
      operationId: 'syncEvents',
      summary: 'The same whenever it changes',
      answers: {
        200: { description: 'Server-sent events `status`.', content: { 'text/event-stream': { type: 'string' } } },
      },
    },
    [500, 503],
  ),
  'POST /api/sync/revocations': internal(
    {
      operationId: 'syncRevocations',
      summary: 'Compare all valid records with their chains',
      answers: { 202: { description: 'Begun.', content: SUCCESS } },
    },
    [400, 409, 500, 503],
  ),
  'POST /api/sync/worker': internal(
    {
      operationId: 'syncWorker',
      summary: 'Start or stop the reading in the background',
      parameters: [
        {
          ...query('action', 'What it shall do.', { type: 'string', enum: ['start', 'stop'] }, 'start'),
          required: true,
        },
      ],
      answers: { 200: { description: 'Done, also when it changed nothing.', content: SUCCESS } },
    },
    [400, 500, 503],
  ),
}
