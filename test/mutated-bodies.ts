import type { OperationName } from '../src/wire/values.ts'
import { decimalText } from './decimal-texts.ts'
import { seededRandom } from './random-geometry.ts'

/** Limits of the service that reads the bodies. */
export const LIMITS = {
  maxVertices: 50_000,
  maxParts: 10_000,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 100_000,
  maxPreparedBytes: 1_000_000,
  chainIds: [84532, 31337],
}

const square = '{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,1],[0,0]]]}'
/** Bodies with every form of input. */
export const SEEDS: readonly (readonly [OperationName, string])[] = [
  ['distance', `{"chainId":84532,"from":{"type":"Point","coordinates":[2.2945,48.8584]},"to":${square}}`],
  [
    'area',
    `{"chainId":84532,"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[2,0],[1,2],[0,0]]]]},"recipient":"0x${'11'.repeat(20)}"}`,
  ],
  ['length', '{"chainId":84532,"geometry":{"type":"LineString","coordinates":[[179,0],[-179,1e1],[0,-90]]}}'],
  [
    'contains',
    `{"chainId":84532,"container":${square},"containee":{"type":"Feature","geometry":{"type":"MultiPoint","coordinates":[[0.5,0.5],[1,1]]}}}`,
  ],
  [
    'within',
    `{"chainId":84532,"geometry":{"type":"GeometryCollection","geometries":[${square}]},"target":{"type":"Point","coordinates":[-0.0,5e-324]},"radius":500.005}`,
  ],
  [
    'intersects',
    `{"chainId":84532,"geometry1":${square},"geometry2":{"type":"MultiLineString","coordinates":[[[0,0],[1,1]],[[-180,90],[180,-90]]]},"schema":"0x${'ab'.repeat(32)}"}`,
  ],
  [
    'relate',
    `{"chainId":84532,"geometry1":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[]},${square}]},"geometry2":${square},"pattern":"T*F**FFF*"}`,
  ],
  [
    'direct',
    '{"chainId":84532,"from":{"type":"Point","coordinates":[0.5,-0.0]},"azimuthDegrees":-90,"distanceMeters":1e6}',
  ],
  ['nearest', `{"chainId":84532,"from":{"type":"LineString","coordinates":[[5,5],[6,7]]},"to":${square}}`],
  [
    'buffer',
    '{"chainId":84532,"geometry":{"type":"Point","coordinates":[179.9,-0.0]},"radius":2e4,"toleranceMeters":400}',
  ],
  [
    'repair',
    '{"chainId":84532,"geometry":{"type":"Polygon","coordinates":[[[179,0],[-179,2.5],[-179,-0.0],[179,2,7],[179,0]]]}}',
  ],
  [
    'waypoints',
    '{"chainId":84532,"from":{"type":"Point","coordinates":[179,5e-324]},"to":{"type":"Point","coordinates":[-179,1]},"everyMeters":12345.678}',
  ],
  [
    'area',
    `{ "chainId" : 84532,\n "geometry": { "coordinates" : [ [ [0.0, 0.50, 7], [1e0, 0.0], [1.2345678901234567, 1, -3.5e2, 9], [ 0,0.5 ] ] ],\t"type": "Polygon", "name": "Zürich \\u00e9" } }`,
  ],
  [
    'intersects',
    `{"geometry1":{"bbox":[0,0,1,1],"geometries":[{"type":"Point","coordinates":[0.30000000000000004,9]},{"type":"GeometryCollection","geometries":[{"type":"MultiPoint","coordinates":[[1,2],[-0,3.140]]}]}],"type":"GeometryCollection"},"chainId":84532,"geometry2":{"type":"Feature","properties":{"coordinates":[[7,8,"x"]],"geometry":{}},"geometry":{"type":"MultiPolygon","coordinates":[[[[0,0],[3,0],[3,4],[0,0]]],[[[5,5],[9,5],[9,9],[5,5]],[[8,6],[8,7],[7,6],[8,6]]]]}}}`,
  ],
  [
    'distance',
    `{"chainId":84532,"from":{"type":"Feature","properties":{"coordinates":[[7,8]]},"geometry":{"type":"Point","coordinates":[2.2945,48.8584,35]}},"to":{"type":"Point","coordinates":[-73.985428,40.748817]}}`,
  ],
  [
    'distance',
    '{"chainId":84532,"from":{"type":"Feature","properties":{"salt":"sea"},"geometry":{"type":"Point","coordinates":[1,1]}},"to":{"type":"GeometryCollection","geometries":[{"type":"Point","coordinates":[2,2]}]}}',
  ],
  [
    'distance',
    '{"chainId":84532,"from":{"type":"Feature","geometry":{"type":"Point","coordinates":[1,1],"salt":"random"}},"to":{"type":"Point","coordinates":[2,2]}}',
  ],
  [
    'intersects',
    `{"chainId":84532,"geometry1":{"type":"GeometryCollection","geometries":[${square},{"type":"Point","coordinates":[2,2],"salt":"random"}]},"geometry2":${square}}`,
  ],
  [
    'distance',
    `{"chainId":84532,"from":{"uid":"0x${'ab'.repeat(32)}"},"to":{"verifiedProof":{"proof":{"claim":{},"stamps":[]}}}}`,
  ],
]
const PIECES = [
  '"type":',
  '1e999',
  '-0',
  '[',
  ']',
  '{',
  '}',
  ',',
  'null',
  'true',
  '""',
  '\\u0000',
  '180.00000000000003',
  '1e-400',
  '90',
  '-180',
  '"__proto__":1,',
  '"coordinates":[1,2],',
  '"salt":"random",',
  '"coordinates":',
  ' ',
  '[1,2]',
  '0.12345678901234567',
  '"chainId":1,',
  '\ud83d\ude00',
  '0'.repeat(400),
]

const NUMBERS = [
  '0',
  '-0',
  '1',
  '1.5',
  '-1',
  '90',
  '-90',
  '180',
  '-180',
  '179.9999999',
  '89.999999',
  '1e-7',
  '5e-324',
  '0.30000000000000004',
  '91',
  '181',
  '84532',
  '31337',
  'null',
  '1e999',
]

const next = seededRandom(7)
const random = (range: number) => Math.floor(next() * range)

/** Returns a seed with one to four bytes or pieces changed, inserted, doubled or cut. */
export function mutate(text: string): Buffer {
  return random(2) === 0 ? mutateNumbers(text) : mutateBytes(text)
}

/** Changes numbers in the text. It often stays valid JSON, so that the geometry code is reached. */
function mutateNumbers(text: string): Buffer {
  return Buffer.from(
    text.replace(/-?\d+(\.\d+)?(?=[,\]}])/g, (number) =>
      random(6) === 0 ? (random(3) === 0 ? decimalText(next) : NUMBERS[random(NUMBERS.length)]!) : number,
    ),
  )
}

function mutateBytes(text: string): Buffer {
  let bytes = Buffer.from(text)
  for (let round = random(4); round >= 0; round--) {
    const at = random(bytes.length)
    const piece = Buffer.from(PIECES[random(PIECES.length)]!)
    const rest = random(5)
    if (rest === 0) bytes[at] = random(256)
    else if (rest === 1) bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(at)])
    else if (rest === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + random(12))])
    else if (rest === 3) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(random(at + 1))])
    else
      bytes = Buffer.concat([bytes.subarray(0, at), piece, bytes.subarray(Math.min(bytes.length, at + 1 + random(8)))])
    if (bytes.length === 0) return bytes
  }
  return bytes
}
