import { canonicalGeometry } from '../crypto/canonical.ts'
import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import { type Dimension, type ElementType, type FlatGeometry, GEOMETRY_TYPES, type GeometryType } from './flat.ts'
import type { GeometryLimits } from './read.ts'
import { type FixedTexts, fixedTexts, type ScannedText, type Span, scanText } from './scan.ts'

/** The coordinates of each type: nesting depth of the arrays, dimension, and least number of positions in an innermost array. */
const SHAPES: Readonly<Record<ElementType, { nesting: number; dimension: Dimension; minPositions: number }>> = {
  Point: { nesting: 1, dimension: 0, minPositions: 1 },
  MultiPoint: { nesting: 2, dimension: 0, minPositions: 1 },
  LineString: { nesting: 2, dimension: 1, minPositions: 2 },
  MultiLineString: { nesting: 3, dimension: 1, minPositions: 2 },
  Polygon: { nesting: 3, dimension: 2, minPositions: 4 },
  MultiPolygon: { nesting: 4, dimension: 2, minPositions: 4 },
}

interface Element {
  readonly type: ElementType
  readonly path: readonly (string | number)[]
  readonly span: Span
}

/**
 * Returns the flat form of a geometry in a scanned text: the same as `readGeometry` returns for that text.
 *
 * @param value the geometry in the text's skeleton
 * @returns undefined when it breaks a rule or a limit; the ordinary reader then says which one
 */
export function readScannedGeometry(
  text: ScannedText,
  value: unknown,
  limits: GeometryLimits & { readonly maxCollectionDepth: number },
): FlatGeometry | undefined {
  if (isObject(value) && value['type'] === 'Point') return toPoint(findSpan(text, value))
  const elements: Element[] = []
  if (!collect(text, value, [], limits.maxCollectionDepth, elements)) return undefined
  let vertices = 0
  let sequences = 0
  let parts = 0
  for (const element of elements) {
    if (!isWellFormed(element)) return undefined
    vertices += element.span.vertices.length / 2
    sequences += countSequences(element)
    parts += countParts(element)
  }
  if (vertices > limits.maxVertices || sequences > limits.maxParts) return undefined
  return flatten((value as Geometry).type, elements, vertices, sequences, parts)
}

/**
 * Collects the elements below `value` in the order of the text. Returns false when a rule of `geometry.schema.json` does not
 * hold.
 */
function collect(
  text: ScannedText,
  value: unknown,
  path: Element['path'],
  maxCollectionDepth: number,
  elements: Element[],
): boolean {
  if (!isObject(value)) return false
  const type = value['type'] as GeometryType
  if (!GEOMETRY_TYPES.includes(type)) return false
  if (type !== 'GeometryCollection') {
    const span = findSpan(text, value)
    if (span === undefined || span.nesting !== SHAPES[type].nesting) return false
    elements.push({ type, path, span })
    return true
  }
  const members = value['geometries']
  if (!Array.isArray(members) || members.length === 0 || maxCollectionDepth === 0) return false
  return members.every((member, index) =>
    collect(text, member, [...path, 'geometries', index], maxCollectionDepth - 1, elements),
  )
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Every member `coordinates` of a skeleton is `[k]`, because the kernel does not scan a text with any other. */
function findSpan(text: ScannedText, value: Record<string, unknown>): Span | undefined {
  const reference = value['coordinates'] as readonly [number] | undefined
  return reference?.length === 1 ? text.spans[reference[0]] : undefined
}

function isWellFormed({ type, span }: Element): boolean {
  const { dimension, minPositions } = SHAPES[type]
  const { vertices, sequenceEnds } = span
  if (sequenceEnds.length === 0) return vertices.length / 2 >= minPositions
  let start = 0
  for (const end of sequenceEnds) {
    if (end - start < minPositions) return false
    if (dimension === 2) {
      const isClosed =
        vertices[2 * start] === vertices[2 * end - 2] && vertices[2 * start + 1] === vertices[2 * end - 1]
      if (!isClosed) return false
    }
    start = end
  }
  return true
}

function countSequences({ type, span }: Element): number {
  return type === 'MultiPoint' ? span.vertices.length / 2 : span.sequenceEnds.length || 1
}

function countParts(element: Element): number {
  if (element.type === 'MultiPolygon') return element.span.partEnds.length
  return element.type === 'Polygon' ? 1 : countSequences(element)
}

/** Shared by all single points, because creating these arrays would be most of the work for one point. */
const ONE = Uint32Array.of(0, 1)
const DIMENSION_OF_POINT = Uint8Array.of(0)
const TYPES_OF_POINT: readonly ElementType[] = ['Point']
const PATHS_OF_POINT: FlatGeometry['elementPaths'] = [[]]

function toPoint(span: Span | undefined): FlatGeometry | undefined {
  if (span?.nesting !== SHAPES.Point.nesting) return undefined
  return {
    type: 'Point',
    vertices: span.vertices,
    sequenceStarts: ONE,
    partStarts: ONE,
    partDimensions: DIMENSION_OF_POINT,
    elementStarts: ONE,
    elementTypes: TYPES_OF_POINT,
    elementPaths: PATHS_OF_POINT,
  }
}

function flatten(
  type: GeometryType,
  elements: readonly Element[],
  vertexCount: number,
  sequenceCount: number,
  partCount: number,
): FlatGeometry {
  const singleElement = elements.length === 1 ? elements[0] : undefined
  const vertices = singleElement?.span.vertices ?? new Float64Array(2 * vertexCount)
  const sequenceStarts = new Uint32Array(sequenceCount + 1)
  const partStarts = new Uint32Array(partCount + 1)
  const partDimensions = new Uint8Array(partCount)
  const elementStarts = new Uint32Array(elements.length + 1)
  let vertex = 0
  let sequence = 0
  let part = 0
  elements.forEach((element, index) => {
    const { span } = element
    const { dimension } = SHAPES[element.type]
    const sequences = countSequences(element)
    const parts = countParts(element)
    const count = span.vertices.length / 2
    if (singleElement === undefined) vertices.set(span.vertices, 2 * vertex)
    for (let at = 1; at <= sequences; at++) {
      sequenceStarts[sequence + at] = vertex + (sequences === count ? at : (span.sequenceEnds[at - 1] ?? count))
    }
    for (let at = 1; at <= parts; at++) {
      partStarts[part + at] = sequence + (parts === sequences ? at : (span.partEnds[at - 1] ?? sequences))
    }
    partDimensions.fill(dimension, part, part + parts)
    vertex += count
    sequence += sequences
    part += parts
    elementStarts[index + 1] = part
  })
  return {
    type,
    vertices,
    sequenceStarts,
    partStarts,
    partDimensions,
    elementStarts,
    elementTypes: elements.map((element) => element.type),
    elementPaths: elements.map((element) => element.path),
  }
}

/**
 * Returns the keccak-256 of the canonical text of a geometry that `readScannedGeometry` accepted, hashed in the arena.
 *
 * @param value the geometry in the text's skeleton
 * @returns 64 hex digits; undefined when one of its numbers would have to be formatted first, see `scannedCanonicalText`
 */
export function hashScannedGeometry(kernel: Kernel, text: ScannedText, value: unknown): string | undefined {
  kernel.keccakStart()
  if (!hashGeometry(kernel, text, value as Record<string, unknown>, fixedTexts(kernel))) return undefined
  const digest = kernel.keccakEnd()
  return kernel.views().bytes.toString('hex', digest, digest + 32)
}

function hashGeometry(kernel: Kernel, text: ScannedText, value: Record<string, unknown>, texts: FixedTexts): boolean {
  const type = value['type'] as GeometryType
  if (type !== 'GeometryCollection') {
    hashText(kernel, texts.beforeCoordinates)
    if (!hashSpan(kernel, findSpan(text, value)!)) return false
    hashText(kernel, texts.afterCoordinates[type])
    return true
  }
  const members = value['geometries'] as Record<string, unknown>[]
  for (let index = 0; index < members.length; index++) {
    hashText(kernel, index === 0 ? texts.beforeMembers : texts.betweenMembers)
    if (!hashGeometry(kernel, text, members[index]!, texts)) return false
  }
  hashText(kernel, texts.afterMembers)
  return true
}

function hashText(kernel: Kernel, { pointer, length }: FixedTexts['betweenMembers']): void {
  kernel.keccakAdd(pointer, length)
}

function hashSpan(kernel: Kernel, span: Span): boolean {
  if (span.isCanonical) {
    kernel.keccakAdd(span.textStart, span.textEnd - span.textStart)
    return true
  }
  const mark = kernel.mark()
  const canonical = kernel.canonicalText(span.textStart, span.textEnd)
  if (canonical !== 0) kernel.keccakAdd(canonical, kernel.canonicalLength())
  kernel.releaseTo(mark)
  return canonical !== 0
}

/** Returns the canonical text itself, with each number formatted. Its hash is that of `hashScannedGeometry`, but takes longer. */
export function scannedCanonicalText(kernel: Kernel, text: ScannedText, value: unknown): string {
  return canonicalGeometry(restoreGeometry(kernel, text, value))
}

/** Rebuilds the geometry as `JSON.parse` would have returned it, without foreign members. */
export function restoreGeometry(kernel: Kernel, text: ScannedText, geometry: unknown): Geometry {
  const value = geometry as Record<string, unknown>
  const type = value['type'] as GeometryType
  if (type === 'GeometryCollection') {
    const members = value['geometries'] as Record<string, unknown>[]
    return { type, geometries: members.map((member) => restoreGeometry(kernel, text, member)) } as Geometry
  }
  const { textStart, textEnd } = findSpan(text, value)!
  return { type, coordinates: JSON.parse(kernel.views().bytes.toString('latin1', textStart, textEnd)) } as Geometry
}

/** Numbers with few decimals, with all that a double needs, and with too many; white space, and a superfluous zero. */
const TEXT =
  '{"type":"LineString","coordinates":[[0.1,-0.30000000000000004],[-122.4194123,37.7749123],[10.123456789012344,0.5],[ 179.99999999999997,89.50]]}'
const VERTICES = [
  0.1, -0.30000000000000004, -122.4194123, 37.7749123, 10.123456789012344, 0.5, 179.99999999999997, 89.5,
]
/** keccak-256 of this geometry as ECMAScript writes it, with the members in order: `coordinates` first. */
const REFERENCE = '5a0857328476112f275ee6e565c0f7bdb12d7a55fb9014bb7d9193dabe30c5c8'

/**
 * Checks that the kernel reads numbers and hashes texts on this machine as it did where it was built.
 *
 * @throws {Error} when it does not; the service must not start then (decision 97)
 */
export function selfTestScanner(kernel: Kernel): void {
  kernel.release()
  const scanned = scanText(kernel, Buffer.from(TEXT), { maxJsonDepth: 8, maxVertices: 4 })
  const vertices = scanned?.spans[0]?.vertices
  if (!VERTICES.every((value, index) => vertices?.[index] === value)) throw new Error('the scanner misreads numbers')
  const hash = hashScannedGeometry(kernel, scanned!, scanned!.skeleton)
  if (hash !== REFERENCE) throw new Error('the scanner hashes a geometry wrongly')
}
