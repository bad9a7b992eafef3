import { header, json, type Operation, type OperationTable, query, schemaRef } from './operation.ts'

const REFUSALS = [400, 401, 408, 413, 415, 429, 500, 503]

const PREFER = header(
  'Prefer',
  'result-signature adds `resultSignature`: the result signed for any contract, without EAS.',
  {
    type: 'string',
    examples: ['result-signature'],
  },
)

const NUMERIC = 'NumericComputeResponse'
const BOOLEAN = 'BooleanComputeResponse'

function compute(
  operation: string,
  request: string,
  response: string,
  summary: string,
  description: string,
): Operation {
  return {
    tag: 'Compute',
    operationId: operation,
    summary,
    description,
    parameters: [PREFER],
    body: { content: json(schemaRef(request)) },
    answers: {
      200: {
        description: 'The result, and the attestation of it.',
        content: json(schemaRef(response)),
        headers: ['X-Attester-Nonce-Source', 'Preference-Applied'],
      },
    },
    refusals: [...REFUSALS, 501],
    family: 'problem',
    counts: true,
  }
}

/** Six operations and what goes with their answers. */
export const COMPUTE_OPERATIONS: OperationTable = {
  'POST /compute/v0/distance': compute(
    'distance',
    'DistanceRequest',
    NUMERIC,
    'Distance',
    'Metres between the nearest places of any two geometries, along the geodesic on WGS 84; 0 when they meet. ' +
      'Rounded to the centimetre, which is the integer that is signed.',
  ),
  'POST /compute/v0/area': compute(
    'area',
    'AreaRequest',
    NUMERIC,
    'Area',
    'Square metres inside a Polygon or MultiPolygon whose edges are geodesics. Rounded to the square centimetre.',
  ),
  'POST /compute/v0/length': compute(
    'length',
    'LengthRequest',
    NUMERIC,
    'Length',
    'Metres along a LineString or MultiLineString whose edges are geodesics. Rounded to the centimetre.',
  ),
  'POST /compute/v0/contains': compute(
    'contains',
    'ContainsRequest',
    BOOLEAN,
    'Contains',
    'True when nothing of the containee is outside the container and their interiors meet. What lies on the boundary alone ' +
      'is not contained. Exact, in the plane of longitude and latitude.',
  ),
  'POST /compute/v0/within': compute(
    'within',
    'WithinRequest',
    BOOLEAN,
    'Within a radius',
    'True when the distance in whole centimetres is at most the radius in whole centimetres. `operation` says the radius: ' +
      '`within:50000` is 500 m.',
  ),
  'POST /compute/v0/intersects': compute(
    'intersects',
    'IntersectsRequest',
    BOOLEAN,
    'Intersects',
    'True when the geometries share any place, boundaries included. Exact, in the plane of longitude and latitude.',
  ),
  'POST /compute/v0/resign': {
    tag: 'Compute',
    operationId: 'resign',
    summary: 'Sign a result again',
    description:
      'A result of this service with the nonce of now and a new deadline. Send `attestation` and `delegatedAttestation` of the ' +
      'answer unchanged, with its chain; nothing is computed again. For a day after the result was computed.',
    body: { content: json(schemaRef('ResignRequest')) },
    answers: {
      200: {
        description: 'Both members anew.',
        content: json(schemaRef('ResignResponse')),
        headers: ['X-Attester-Nonce-Source'],
      },
    },
    refusals: REFUSALS,
    family: 'problem',
    counts: true,
  },
  'POST /compute/v0/batch': {
    tag: 'Compute',
    operationId: 'batch',
    summary: 'Many operations in one request',
    description:
      'As JSON up to 10,000 items and 8 MiB; as lines of `application/x-ndjson` any number, options in the query, each line ' +
      'answered by a line in the same order. An item that is refused has its problem in its place and fails no other. ' +
      'Each item counts towards the hourly limit.',
    parameters: [
      query('chainId', 'Of a body of lines: the chain of lines that name none.', schemaRef('ChainId'), 84532),
      query('recipient', 'Of a body of lines: the recipient of lines that name none.', schemaRef('Recipient')),
      query('attest', 'Of a body of lines: each or none.', schemaRef('Attest')),
      query('sequence', 'Of a body of lines: same.', schemaRef('Sequence')),
    ],
    body: {
      content: {
        'application/json': schemaRef('BatchRequest'),
        'application/x-ndjson': { type: 'string', description: 'One BatchItem a line.' },
      },
    },
    answers: {
      200: {
        description: 'Results in the order of the items.',
        content: {
          'application/json': schemaRef('BatchResponse'),
          'application/x-ndjson': { type: 'string', description: 'One BatchResult a line.' },
        },
        headers: ['X-Attester-Nonce-Source'],
      },
    },
    refusals: [...REFUSALS, 501],
    family: 'problem',
    counts: true,
  },
  'GET /compute/v0': {
    tag: 'Compute',
    operationId: 'computeIndex',
    summary: 'Routes of the compute API',
    answers: { 200: { description: 'The list.', content: json(schemaRef('FolderIndex')) } },
    family: 'problem',
  },
}
