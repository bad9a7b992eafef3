import { json, type Operation, type OperationTable, pathParameter, schemaRef } from './operation.ts'

function service(operationId: string, summary: string, description: string, schema: string): Operation {
  return {
    tag: 'Service',
    operationId,
    summary,
    answers: { 200: { description, content: json(schemaRef(schema)) } },
    family: 'problem',
  }
}

const PAGE: Operation['answers'] = {
  200: { description: 'The page.', content: { 'text/html': { type: 'string' } }, headers: ['ETag'] },
  304: { description: 'The client has it.' },
}

const NO_PAGE: Operation['answers'][number] = {
  description: 'There is nothing under this path; a page for who prefers text/html.',
  content: { 'application/problem+json': schemaRef('ProblemDetails'), 'text/html': { type: 'string' } },
}

function page(operationId: string, summary: string, answers: Operation['answers'] = PAGE): Operation {
  return { tag: 'Pages', operationId, summary, answers: { ...answers, 404: NO_PAGE }, family: 'problem' }
}

const FILE = pathParameter('file', 'Path below it.', { type: 'string' })
const ANY_FILE: Operation['answers'] = {
  200: { description: 'The file, of the type it has.', content: { '*/*': {} }, headers: ['ETag'] },
  304: { description: 'The client has it.' },
}

/** What the service says of itself, and the pages. */
export const SERVICE_OPERATIONS: OperationTable = {
  'GET /': {
    ...service('root', 'What there is', 'Links and every route.', 'ServiceRoot'),
    answers: {
      200: {
        description: 'Links and every route; a page for who names text/html.',
        content: { 'application/json': schemaRef('ServiceRoot'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has the page.' },
    },
  },
  'GET /health': service('health', 'Whether it is alive', 'It answers.', 'Health'),
  'GET /ready': {
    ...service('ready', 'Whether it can work', 'Every part works.', 'ReadinessReport'),
    answers: {
      200: { description: 'Every part works.', content: json(schemaRef('ReadinessReport')) },
      503: {
        description: 'A part is missing; checks says which.',
        content: json(schemaRef('ReadinessReport')),
        headers: ['Retry-After'],
      },
    },
  },
  'GET /.well-known/attester.json': service(
    'issuer',
    'Who signs here',
    'Address, chains and schemas.',
    'AttesterDocument',
  ),
  'GET /metrics': {
    tag: 'Service',
    operationId: 'metrics',
    summary: 'Counters and histograms',
    description: 'For the machine it runs on; METRICS_PUBLIC=1 opens it.',
    answers: { 200: { description: 'Prometheus text.', content: { 'text/plain': { type: 'string' } } } },
    refusals: [404],
    family: 'problem',
  },
  'GET /openapi.json': {
    tag: 'Service',
    operationId: 'openapi',
    summary: 'This document',
    answers: {
      200: { description: 'OpenAPI 3.1.', content: json({ type: 'object', required: ['openapi', 'paths'] }) },
    },
    family: 'problem',
  },
  'GET /errors': {
    ...page('problems', 'Every kind of refusal', {
      200: {
        description: 'The list; a page for who names text/html.',
        content: { 'application/json': schemaRef('ProblemPageList'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has it.' },
    }),
    tag: 'Service',
    refusals: [],
  },
  'GET /errors/:type': {
    ...page('problem', 'Cause and remedy of one kind of refusal', {
      200: {
        description: 'What happened and what to do; a page for who names text/html.',
        content: { 'application/json': schemaRef('ProblemPage'), 'text/html': { type: 'string' } },
      },
      304: { description: 'The client has it.' },
    }),
    tag: 'Service',
    parameters: [
      pathParameter(
        'type',
        'The last part of `type`, or the message of the record API with dashes.',
        { type: 'string' },
        'invalid-input',
      ),
    ],
  },
  'GET /docs': page('reference', 'Reference of every route'),
  'GET /docs/*': { ...page('referenceFile', 'Guide and files of the reference', ANY_FILE), parameters: [FILE] },
  'GET /explore': page('explorer', 'The explorer'),
  'GET /explore/*': { ...page('explorerFile', 'Files of the explorer', ANY_FILE), parameters: [FILE] },
  'GET /llms.txt': page('llms', 'What this is, for language models', {
    ...PAGE,
    200: { description: 'The text.', content: { 'text/plain': { type: 'string' } }, headers: ['ETag'] },
  }),
  'GET /favicon.ico': page('favicon', 'The sign of a trig point', {
    ...PAGE,
    200: { description: 'The picture.', content: { 'image/x-icon': {} }, headers: ['ETag'] },
  }),
}
