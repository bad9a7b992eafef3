import {
  folderIndex,
  header,
  json,
  type Operation,
  type OperationTable,
  ok,
  type Parameter,
  query,
  schemaRef,
} from './operation.ts'

const ERROR_STATUSES = [400, 401, 408, 413, 415, 422, 429, 500, 503]

const PREFER = header(
  'Prefer',
  'result-signature adds `resultSignature`, a signature of the result that any contract can check without EAS.',
  {
    type: 'string',
    examples: ['result-signature'],
  },
)

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'For results that the service submits itself: the same key refers to the same attestations, so a retry never pays twice.',
  { type: 'string', minLength: 1, maxLength: 255 },
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
    description: `${description} With \`options.submitOnchain\`, the service also submits the result, if the operator offers this.`,
    parameters: [PREFER, IDEMPOTENCY_KEY],
    body: { content: json(schemaRef(request)) },
    responses: ok('The result and its attestation.', json(schemaRef(response)), [
      'X-Attester-Nonce-Source',
      'Preference-Applied',
    ]),
    // 404: a stored geometry that the key does not have. 409: an Idempotency-Key of another result.
    errorStatuses: [...ERROR_STATUSES, 404, 409, 501],
    counts: true,
  }
}

/** What all operations with a matrix share. */
const MATRIX = 'Geometries may be empty. Exact, in the plane of longitude and latitude.'

function predicate(operation: string, summary: string, condition: string): Operation {
  return compute(operation, 'PredicateRequest', BOOLEAN, summary, `True if ${condition}. ${MATRIX}`)
}

/** An operation whose answer is a geometry. It takes no preference, because nothing is signed. */
function geometryAnswer(operation: string, summary: string, description: string): Operation {
  const name = `${operation[0]!.toUpperCase()}${operation.slice(1)}`
  const response = `${name}Response`
  return {
    ...compute(operation, `${name}Request`, response, summary, ''),
    description: `${description} Not signed; \`ref\` is the reference that the geometry has as an input.`,
    errorStatuses: [...ERROR_STATUSES, 404, 501],
    parameters: [],
    responses: ok('The geometry and its reference.', json(schemaRef(response))),
  }
}

const EDGES =
  'Exact, in the plane of longitude and latitude; a note says how far geodesics are from straight edges. With `edges` of `geodesic`, ' +
  'the operation is signed under the name `…:geodesic`, and 422 if the answer is within the margin of error.'

/** Returns the parameters of operations that arrive as lines. @param attest the values of the option */
export function lineOptions(attest: string): Parameter[] {
  return [
    query('chainId', 'NDJSON only: the chain of lines that name none.', schemaRef('ChainId'), 84532),
    query('recipient', 'NDJSON only: the recipient of lines that name none.', schemaRef('Recipient')),
    query('attest', `NDJSON only: ${attest}`, schemaRef('Attest')),
    query('sequence', 'NDJSON only: the only supported value is same.', schemaRef('Sequence')),
  ]
}

/** The operations, signing a result again, batches, and the index. */
export const COMPUTE_OPERATIONS: OperationTable = {
  'POST /compute/v0/distance': compute(
    'distance',
    'DistanceRequest',
    NUMERIC,
    'Distance',
    'Metres between the nearest points of any two geometries, along the geodesic on WGS 84; 0 if they intersect. ' +
      'Rounded to the centimetre; the signed integer is in centimetres.',
  ),
  'POST /compute/v0/area': compute(
    'area',
    'AreaRequest',
    NUMERIC,
    'Area',
    'Area in square metres of a Polygon or MultiPolygon whose edges are geodesics. Rounded to the square centimetre.',
  ),
  'POST /compute/v0/length': compute(
    'length',
    'LengthRequest',
    NUMERIC,
    'Length',
    'Length in metres of a LineString or MultiLineString whose edges are geodesics. Rounded to the centimetre.',
  ),
  'POST /compute/v0/contains': compute(
    'contains',
    'ContainsRequest',
    BOOLEAN,
    'Contains',
    'True if no part of the containee is outside the container and their interiors intersect. A geometry that lies only on the ' +
      `boundary is not contained. ${EDGES}`,
  ),
  'POST /compute/v0/within': compute(
    'within',
    'WithinRequest',
    BOOLEAN,
    'Within a radius',
    'True if the distance in whole centimetres is at most the radius in whole centimetres. `operation` names the radius: ' +
      '`within:50000` means 500 m.',
  ),
  'POST /compute/v0/intersects': compute(
    'intersects',
    'IntersectsRequest',
    BOOLEAN,
    'Intersects',
    `True if the geometries share any point, boundaries included. ${EDGES}`,
  ),
  'POST /compute/v0/relate': compute(
    'relate',
    'RelateRequest',
    'RelateResponse',
    'Relate',
    'The DE-9IM matrix of two geometries, which is not signed; with `pattern`, whether the matrix matches it. `operation` names the ' +
      `pattern then: \`relate:T*F**FFF*\`. ${MATRIX}`,
  ),
  'POST /compute/v0/equals': predicate('equals', 'Equals', 'the geometries are the same set of points'),
  'POST /compute/v0/disjoint': predicate('disjoint', 'Disjoint', 'the geometries share no point'),
  'POST /compute/v0/touches': predicate('touches', 'Touches', 'the geometries meet, but their interiors do not'),
  'POST /compute/v0/crosses': predicate(
    'crosses',
    'Crosses',
    'a line or points meet the interior of a geometry of higher dimension and also leave it, or two lines meet in points of their interiors only',
  ),
  'POST /compute/v0/overlaps': predicate(
    'overlaps',
    'Overlaps',
    'the geometries have one dimension, their interiors meet in it, and each also leaves the other',
  ),
  'POST /compute/v0/covers': predicate('covers', 'Covers', 'no point of geometry2 is outside of geometry1'),
  'POST /compute/v0/coveredBy': predicate('coveredBy', 'Covered by', 'no point of geometry1 is outside of geometry2'),
  'POST /compute/v0/direct': geometryAnswer(
    'direct',
    'Direct',
    'Where the geodesic on WGS 84 ends that leaves a Point in a direction, and its direction there.',
  ),
  'POST /compute/v0/waypoints': geometryAnswer(
    'waypoints',
    'Waypoints',
    'The shortest geodesic between two Points as a line with a place every `everyMeters`, cut at longitude ±180.',
  ),
  'POST /compute/v0/nearest': geometryAnswer(
    'nearest',
    'Nearest places',
    'The place of each geometry that is nearest to the other, as `distance` finds them; one common place if they meet.',
  ),
  'POST /compute/v0/buffer': geometryAnswer(
    'buffer',
    'Buffer',
    'The places within a radius of a Point, as a polygon with a bound on how far its boundary leaves the geodesic circle.',
  ),
  'POST /compute/v0/repair': geometryAnswer(
    'repair',
    'Repair',
    'A valid geometry made from one whose polygons may not be, with what was changed and how much area moved; the same if it is valid.',
  ),
  'POST /compute/v0/resign': {
    tag: 'Compute',
    operationId: 'resign',
    summary: 'Sign a result again',
    description:
      'Signs a result of this service with the current nonce and a new deadline. Send `attestation` and `delegatedAttestation` of ' +
      'the response unchanged, with its chain; nothing is computed again. Possible for a day after the result was computed.',
    body: { content: json(schemaRef('ResignRequest')) },
    responses: ok('Both members with the new signature.', json(schemaRef('ResignResponse')), [
      'X-Attester-Nonce-Source',
    ]),
    errorStatuses: ERROR_STATUSES,
    counts: true,
  },
  'POST /compute/v0/batch': {
    tag: 'Compute',
    operationId: 'batch',
    summary: 'Many operations in one request',
    description:
      'A JSON body takes up to 10,000 items and 8 MiB. A body of `application/x-ndjson` takes any number of lines, with the ' +
      'options in the query; each line gets one line of the response, in the same order. Items fail independently: a failed item ' +
      'gets a problem instead of a result. Each item counts towards the hourly limit. A JSON body can have `geometries`, inputs that ' +
      'are sent once and that items name with `{"named": "…"}`; one that cannot be used makes the request fail. With ' +
      '`options.submitOnchain`, the service also submits each result or, with `attest` of `merkle`, one root of all results, if the ' +
      'operator offers this.',
    parameters: [...lineOptions('each or none.'), IDEMPOTENCY_KEY],
    body: {
      content: {
        'application/json': schemaRef('BatchRequest'),
        'application/x-ndjson': { type: 'string', description: 'One BatchItem per line.' },
      },
    },
    responses: ok(
      'Results in the order of the items.',
      {
        'application/json': schemaRef('BatchResponse'),
        'application/x-ndjson': { type: 'string', description: 'One BatchResult per line.' },
      },
      ['X-Attester-Nonce-Source'],
    ),
    // 404: as for one operation, under a name.
    errorStatuses: [...ERROR_STATUSES, 404, 409, 501],
    counts: true,
  },
  'GET /compute/v0': folderIndex('Compute', 'computeIndex', 'Routes of the compute API'),
}
