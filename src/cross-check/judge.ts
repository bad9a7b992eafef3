/**
 * The second opinion: judges a computed answer with libraries that share no code with this service. It reads the request with
 * `JSON.parse` and imports neither the kernel nor the geometry, geodesy and topology modules. Nothing that it computes is signed
 * (decision 162).
 */
import type { Geometry } from '../types/generated.ts'
import type { AnswerSample, SampledAnswer } from '../wire/compute-messages.ts'
import type { Verdict } from '../wire/cross-check-messages.ts'
import { judgeArea, judgeDistance, judgeLength, judgeWithin, type Measured } from './measures.ts'
import { judgePredicate } from './predicates.ts'

const GEOMETRY_TYPES = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
  'GeometryCollection',
]
const UNCHECKED: Verdict = { outcome: 'unchecked' }

/**
 * Computes the answer of a sample again and compares.
 *
 * @throws {Error} if a library fails
 */
export function judge(sample: AnswerSample): Verdict {
  const { operation, signedOperation, answer } = sample
  const inputs = readInputs(sample)
  if (inputs === undefined) return UNCHECKED
  const [name, parameter] = signedOperation.split(':')
  // Another reading of the same operation, such as predicates on geodesic edges, has a parameter that is not known here.
  if (name !== operation || (parameter !== undefined && name !== 'within' && name !== 'relate')) return UNCHECKED
  switch (operation) {
    case 'distance':
      return compareMeasure(answer, judgeDistance(inputs))
    case 'length':
      return compareMeasure(answer, judgeLength(inputs[0]!))
    case 'area':
      return compareMeasure(answer, judgeArea(inputs[0]!))
    case 'within':
      return answer.kind === 'boolean' ? judgeWithin(inputs, Number(parameter), answer.value) : UNCHECKED
    case 'direct':
    case 'waypoints':
    case 'nearest':
    case 'buffer':
    case 'repair':
      return UNCHECKED
    default:
      return judgePredicate(operation, inputs, answer, parameter)
  }
}

/** Compares the number before it was rounded, within the bound, and the signed integer with that number. */
function compareMeasure(answer: SampledAnswer, measured: Measured | undefined): Verdict {
  if (measured === undefined || answer.kind !== 'numeric') return UNCHECKED
  const { value, bound, engine } = measured
  const { measure, integer, scale } = answer
  const isNear = Math.abs(measure - value) <= bound
  // An integer is half a unit away from the number that it rounds, and beyond 2⁵³ half an ulp more.
  const scaled = measure * scale
  const isRounded = Math.abs(Number(integer) - scaled) <= 0.5 + Math.abs(scaled) * 2 ** -52
  return isNear && isRounded ? { outcome: 'agreed', engine } : { outcome: 'disagreed', engine, other: value }
}

/** Returns the geometries of a sample as they were sent; undefined if one is not GeoJSON. */
function readInputs({ body, paths, resolved }: AnswerSample): Geometry[] | undefined {
  if (body === undefined) return undefined
  const request: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  const inputs: Geometry[] = []
  for (const path of paths) {
    const found = path.reduce<unknown>((value, key) => (value as Record<string | number, unknown>)?.[key], request)
    const reference = resolved.find(({ field }) => field === path[0])
    const input = reference === undefined ? found : parseResolved(reference)
    if (!isGeometry(input)) return undefined
    inputs.push(input)
  }
  return inputs
}

function parseResolved({ geometry, locationType }: AnswerSample['resolved'][number]): unknown {
  return locationType === undefined || /^geojson/i.test(locationType) ? JSON.parse(geometry) : undefined
}

function isGeometry(value: unknown): value is Geometry {
  return GEOMETRY_TYPES.includes((value as { type?: string } | null)?.type ?? '')
}
