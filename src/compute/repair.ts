/** Makes valid geometries from invalid ones, and describes what was changed (decision 153). */
import { jsonPointer, ProblemError, problemAt } from '../base/problem.ts'
import { CM2_PER_SQUARE_METER, fromScaledInteger, toScaledInteger } from '../base/units.ts'
import { planeRingSquareMeters } from '../geodesy/plane-area.ts'
import { type FlatGeometry, vertexPath } from '../geometry/flat.ts'
import { type GeometryLimits, readGeometry } from '../geometry/read.ts'
import type { Polygon } from '../topology/repair/arrangement.ts'
import {
  type Change,
  type ChangeCode,
  findMoved,
  repairPolygons,
  type SourceRing,
  UnsettledError,
} from '../topology/repair/structure.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import { checkInterior, kernelPoleResolver } from './validity.ts'

type Path = readonly (string | number)[]
type Simple = Exclude<Geometry, { type: 'GeometryCollection' }>

/** Passes until the result is valid. A second one is needed where rounding a crossing has made another one. */
const MAX_PASSES = 4
/** Changes that are described. The others are counted. */
const MAX_CHANGES = 1000

const DETAILS: Readonly<Record<ChangeCode | 'closed' | 'ring-united' | 'rewound', string>> = {
  closed: 'the ring was open: its first position was added at its end',
  'repeated-vertex': 'a repeated position was removed',
  spike: 'a spike was removed: the ring turned back here along the edge on which it came',
  'no-area': 'the ring encloses no area and was removed',
  'cut-at-antimeridian': 'the ring crosses longitude ±180 and was cut there',
  'self-intersection': 'the ring crosses itself here and was divided',
  'self-touch': 'the ring touches itself here and was divided',
  'rings-cross': 'two rings cross here and were joined',
  'rings-touch': 'an edge of one ring has a vertex of another here, and now has it too',
  'hole-outside': 'the hole lies outside of its exterior ring and became a polygon',
  'ring-united': 'the ring lies in others or shares edges with them, and became a part of them',
  rewound: 'the ring was reversed: exterior rings run counterclockwise, and holes clockwise',
}

export interface RepairedGeometry {
  readonly geometry: Geometry
  /** As JSON values, in the order of the rings. */
  readonly changes: readonly {
    readonly code: string
    readonly detail: string
    readonly pointer: string
    readonly place: readonly [number, number]
  }[]
  /** Changes beyond those that are described. */
  readonly omittedChanges: number
  /** Area of the places that are inside of one of the two geometries only, rounded to 1 cm². */
  readonly areaMovedSquareMeters: number
  readonly vertexCount: number
}

/**
 * Repairs the polygons of a geometry. Elements that are valid stay as they are, and so do points and lines.
 *
 * @param geometry with closed rings
 * @param openRings sequences that were received open
 * @param path pointer of the geometry in the request
 * @throws {ProblemError} `not-repairable` if a polygon has no area, or its repair is not valid
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function repairGeometry(
  kernel: Kernel,
  geometry: FlatGeometry,
  openRings: ReadonlySet<number>,
  path: Path,
  limits: GeometryLimits,
): RepairedGeometry {
  const elements: Simple[] = []
  const changes: (Omit<Change, 'code'> & { readonly code: keyof typeof DETAILS })[] = []
  let squareMeters = 0
  let vertexCount = 0
  for (let element = 0; element < geometry.elementTypes.length; element++) {
    const original = toElement(geometry, element)
    const elementPath = [...path, ...geometry.elementPaths[element]!]
    const polygons = polygonsOf(geometry, element)
    for (const { source, vertices } of polygons.flat())
      if (openRings.has(source)) changes.push({ code: 'closed', lon: vertices[0]!, lat: vertices[1]!, source })
    const fault = findFault(kernel, original, elementPath, limits)
    if (fault === undefined) {
      elements.push(original)
      vertexCount += countVertices(geometry, element)
      continue
    }
    const { repaired, found } = repairElement(kernel, polygons, elementPath, limits, fault)
    elements.push(toGeometry(repaired))
    for (const { vertices } of repaired.flat()) vertexCount += vertices.length / 2
    changes.push(...found, ...ringChanges(polygons, repaired, found))
    const moved = orNotRepairable(elementPath, () => findMoved(polygons, repaired, kernelPoleResolver(kernel)))
    for (const { vertices } of moved.flat()) squareMeters += planeRingSquareMeters(vertices)
  }
  const sorted = changes
    .map((change, index) => ({ change, index }))
    .sort((a, b) => a.change.source - b.change.source || a.index - b.index)
  return {
    geometry: assemble(geometry, elements),
    changes: sorted.slice(0, MAX_CHANGES).map(({ change: { code, lon, lat, source } }) => ({
      code,
      detail: DETAILS[code],
      pointer: jsonPointer([...path, ...vertexPath(geometry, source)]),
      place: [lon, lat],
    })),
    omittedChanges: Math.max(0, sorted.length - MAX_CHANGES),
    areaMovedSquareMeters: fromScaledInteger(toScaledInteger(squareMeters, CM2_PER_SQUARE_METER), CM2_PER_SQUARE_METER),
    vertexCount,
  }
}

function countVertices({ sequenceStarts, partStarts, elementStarts }: FlatGeometry, element: number): number {
  const start = (part: number) => sequenceStarts[partStarts[part]!]!
  return start(elementStarts[element + 1]!) - start(elementStarts[element]!)
}

function repairElement(
  kernel: Kernel,
  polygons: readonly (readonly SourceRing[])[],
  path: Path,
  limits: GeometryLimits,
  firstFault: ProblemError,
): { repaired: Polygon[]; found: Change[] } {
  const found: Change[] = []
  let current: readonly (readonly SourceRing[])[] = polygons
  let fault: ProblemError | undefined = firstFault
  for (let pass = 0; pass < MAX_PASSES; pass++) {
    const changes: Change[] = []
    const input = current
    const repaired = orNotRepairable(path, () => repairPolygons(input, kernelPoleResolver(kernel), changes))
    if (repaired.length === 0) throw notRepairable(path, 'none of its rings encloses an area', 'no-area')
    found.push(...withoutRepetitions(changes))
    fault = findFault(kernel, toGeometry(repaired), path, limits)
    if (fault === undefined) return { repaired, found }
    current = repaired
  }
  throw notRepairable(path, `its repair is not valid: ${fault?.data.invalidParts?.[0]?.detail ?? fault?.data.detail}`)
}

function orNotRepairable<T>(path: Path, compute: () => T): T {
  try {
    return compute()
  } catch (error) {
    throw error instanceof UnsettledError ? notRepairable(path, error.message) : error
  }
}

function withoutRepetitions(changes: readonly Change[]): Change[] {
  const byKey = new Map<string, Change>()
  for (const change of changes) {
    const key = `${change.code} ${change.source} ${change.lon} ${change.lat}`
    if (!byKey.has(key)) byKey.set(key, change)
  }
  return [...byKey.values()]
}

type RingChange = Omit<Change, 'code'> & { readonly code: 'ring-united' | 'rewound' }

/** Returns the changes of whole rings to which nothing else has happened. */
function ringChanges(
  polygons: readonly (readonly SourceRing[])[],
  repaired: readonly Polygon[],
  found: readonly Change[],
): RingChange[] {
  const changed = new Set(found.map(({ source }) => source))
  const results = new Map(repaired.flat().map((ring) => [ring.source, ring.vertices]))
  return polygons.flat().flatMap(({ source, vertices }): RingChange[] => {
    if (changed.has(source)) return []
    const at = { lon: vertices[0]!, lat: vertices[1]!, source }
    const result = results.get(source)
    if (result === undefined) return [{ ...at, code: 'ring-united' }]
    const isReversed =
      result.length === vertices.length && result[2] === vertices.at(-4) && result[3] === vertices.at(-3)
    return isReversed ? [{ ...at, code: 'rewound' }] : []
  })
}

function notRepairable(path: Path, detail: string, code = 'not-repairable'): ProblemError {
  return problemAt('not-repairable', path, detail, {
    code,
    hint: 'draw the polygon again; simplify it where vertices are closer than 1 mm',
  })
}

/** Returns the problem of a geometry that is not valid. */
function findFault(kernel: Kernel, geometry: Simple, path: Path, limits: GeometryLimits): ProblemError | undefined {
  try {
    checkInterior(readGeometry(geometry, path, limits), path, kernel)
    return undefined
  } catch (error) {
    if (error instanceof ProblemError) return error
    throw error
  }
}

function polygonsOf(geometry: FlatGeometry, element: number): SourceRing[][] {
  const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = geometry
  const polygons: SourceRing[][] = []
  for (let part = elementStarts[element]!; part < elementStarts[element + 1]!; part++) {
    if (partDimensions[part] !== 2) continue
    const rings: SourceRing[] = []
    for (let source = partStarts[part]!; source < partStarts[part + 1]!; source++)
      rings.push({ vertices: vertices.subarray(2 * sequenceStarts[source]!, 2 * sequenceStarts[source + 1]!), source })
    polygons.push(rings)
  }
  return polygons
}

function toPositions(vertices: Float64Array): [number, number][] {
  return Array.from({ length: vertices.length / 2 }, (_, i) => [vertices[2 * i]!, vertices[2 * i + 1]!])
}

function toGeometry(polygons: readonly Polygon[]): Simple {
  const rings = polygons.map((polygon) => polygon.map(({ vertices }) => toPositions(vertices)))
  return rings.length === 1
    ? { type: 'Polygon', coordinates: rings[0]! as never }
    : { type: 'MultiPolygon', coordinates: rings as never }
}

/** Returns an element of a flat geometry as GeoJSON. */
function toElement(
  { vertices, sequenceStarts, partStarts, elementStarts, elementTypes }: FlatGeometry,
  element: number,
) {
  const type = elementTypes[element]!
  const sequencesOf = (part: number) =>
    Array.from({ length: partStarts[part + 1]! - partStarts[part]! }, (_, i) => {
      const sequence = partStarts[part]! + i
      return toPositions(vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!))
    })
  const parts = Array.from({ length: elementStarts[element + 1]! - elementStarts[element]! }, (_, i) =>
    sequencesOf(elementStarts[element]! + i),
  )
  const coordinates = {
    Point: () => parts[0]![0]![0],
    MultiPoint: () => parts.map(([point]) => point![0]),
    LineString: () => parts[0]![0],
    MultiLineString: () => parts.map(([line]) => line),
    Polygon: () => parts[0],
    MultiPolygon: () => parts,
  }[type]()
  return { type, coordinates } as Simple
}

/** Puts elements where they were in a geometry. */
function assemble({ type, elementPaths }: FlatGeometry, elements: readonly Simple[]): Geometry {
  if (type !== 'GeometryCollection') return elements[0]!
  const root: { type: 'GeometryCollection'; geometries: Geometry[] } = { type, geometries: [] }
  for (const [i, path] of elementPaths.entries()) {
    let collection = root
    const indices = path.filter((step): step is number => typeof step === 'number')
    for (const index of indices.slice(0, -1)) {
      collection.geometries[index] ??= { type, geometries: [] } as unknown as Geometry
      collection = collection.geometries[index] as typeof root
    }
    collection.geometries[indices.at(-1)!] = elements[i]!
  }
  return root as Geometry
}
