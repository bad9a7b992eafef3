import type { Geometry } from '../types/generated.ts'
import type { Kernel } from '../wasm/loader.ts'
import { canonicalGeometry } from './canonical.ts'
import { type Dimension, type ElementType, type FlatGeometry, GEOMETRY_TYPES, type GeometryType } from './flat.ts'
import { type OwnTexts, ownTextsOf } from './own-texts.ts'
import type { GeometryLimits } from './read.ts'
import type { ScannedText, Span } from './scan.ts'

/** What a type's coordinates look like: arrays inside each other, and the fewest positions of each innermost one. */
const SHAPES: Readonly<Record<ElementType, { nesting: number; dimension: Dimension; fewest: number }>> = {
  Point: { nesting: 1, dimension: 0, fewest: 1 },
  MultiPoint: { nesting: 2, dimension: 0, fewest: 1 },
  LineString: { nesting: 2, dimension: 1, fewest: 2 },
  MultiLineString: { nesting: 3, dimension: 1, fewest: 2 },
  Polygon: { nesting: 3, dimension: 2, fewest: 4 },
  MultiPolygon: { nesting: 4, dimension: 2, fewest: 4 },
}

interface Element {
  readonly type: ElementType
  readonly path: readonly (string | number)[]
  readonly span: Span
}

/**
 * The flat form of a geometry in a scanned text: what `readGeometry` gives for the same text.
 *
 * @param value a place in the text's skeleton
 * @returns undefined when it is not a geometry within all rules and limits; the long way says which one it breaks
 */
export function readScannedGeometry(
  text: ScannedText,
  value: unknown,
  limits: GeometryLimits & { readonly maxCollectionDepth: number },
): FlatGeometry | undefined {
  if (isObject(value) && value['type'] === 'Point') return pointOf(spanOf(text, value))
  const elements: Element[] = []
  if (!collect(text, value, [], limits.maxCollectionDepth, elements)) return undefined
  let vertices = 0
  let sequences = 0
  let parts = 0
  for (const element of elements) {
    if (!isWellFormed(element)) return undefined
    vertices += element.span.vertices.length / 2
    sequences += sequencesOf(element)
    parts += partsOf(element)
  }
  if (vertices > limits.maxVertices || sequences > limits.maxParts) return undefined
  return flatten((value as Geometry).type, elements, vertices, sequences, parts)
}

/** The elements below `value` in the order of the text; false when the rules of `geometry.schema.json` do not hold. */
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
    const span = spanOf(text, value)
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

/** Every member `coordinates` of a skeleton is `[k]`: the kernel declines a text with another one. */
function spanOf(text: ScannedText, value: Record<string, unknown>): Span | undefined {
  const place = value['coordinates'] as readonly [number] | undefined
  return place === undefined ? undefined : text.spans[place[0]]
}

function isWellFormed({ type, span }: Element): boolean {
  const { dimension, fewest } = SHAPES[type]
  const { vertices, sequenceEnds } = span
  if (sequenceEnds.length === 0) return vertices.length / 2 >= fewest
  let start = 0
  for (const end of sequenceEnds) {
    if (end - start < fewest) return false
    if (dimension === 2) {
      const isClosed =
        vertices[2 * start] === vertices[2 * end - 2] && vertices[2 * start + 1] === vertices[2 * end - 1]
      if (!isClosed) return false
    }
    start = end
  }
  return true
}

function sequencesOf({ type, span }: Element): number {
  return type === 'MultiPoint' ? span.vertices.length / 2 : span.sequenceEnds.length || 1
}

function partsOf(element: Element): number {
  if (element.type === 'MultiPolygon') return element.span.partEnds.length
  return element.type === 'Polygon' ? 1 : sequencesOf(element)
}

/** What all single points share: making it anew would be most of the work with one. */
const ONE = Uint32Array.of(0, 1)
const DIMENSION_OF_POINT = Uint8Array.of(0)
const TYPES_OF_POINT: readonly ElementType[] = ['Point']
const PATHS_OF_POINT: FlatGeometry['elementPaths'] = [[]]

function pointOf(span: Span | undefined): FlatGeometry | undefined {
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
  const only = elements.length === 1 ? elements[0] : undefined
  const vertices = only?.span.vertices ?? new Float64Array(2 * vertexCount)
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
    const sequences = sequencesOf(element)
    const parts = partsOf(element)
    const count = span.vertices.length / 2
    if (only === undefined) vertices.set(span.vertices, 2 * vertex)
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
 * keccak-256 of the canonical text of a geometry that `readScannedGeometry` accepted, hashed where it lies in the arena.
 *
 * @param value its place in the text's skeleton
 * @returns 64 hex digits; undefined when a number of it has to be formatted for that, see `scannedCanonicalText`
 */
export function hashScannedGeometry(kernel: Kernel, text: ScannedText, value: unknown): string | undefined {
  kernel.keccakStart()
  if (!hash(kernel, text, value as Record<string, unknown>, ownTextsOf(kernel))) return undefined
  const digest = kernel.keccakEnd()
  return kernel.views().bytes.toString('hex', digest, digest + 32)
}

function hash(kernel: Kernel, text: ScannedText, value: Record<string, unknown>, texts: OwnTexts): boolean {
  const type = value['type'] as GeometryType
  if (type !== 'GeometryCollection') {
    add(kernel, texts.beforeCoordinates)
    if (!hashSpan(kernel, spanOf(text, value)!)) return false
    add(kernel, texts.afterCoordinates[type])
    return true
  }
  const members = value['geometries'] as Record<string, unknown>[]
  for (let index = 0; index < members.length; index++) {
    add(kernel, index === 0 ? texts.beforeMembers : texts.betweenMembers)
    if (!hash(kernel, text, members[index]!, texts)) return false
  }
  add(kernel, texts.afterMembers)
  return true
}

function add(kernel: Kernel, { pointer, length }: OwnTexts['betweenMembers']): void {
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

/** The canonical text itself, each number formatted: the slow way to the same hash. */
export function scannedCanonicalText(kernel: Kernel, text: ScannedText, value: unknown): string {
  return canonicalGeometry(restore(kernel, text, value as Record<string, unknown>))
}

/** The geometry as `JSON.parse` would have given it, without foreign members. */
function restore(kernel: Kernel, text: ScannedText, value: Record<string, unknown>): Geometry {
  const type = value['type'] as GeometryType
  if (type === 'GeometryCollection') {
    const members = value['geometries'] as Record<string, unknown>[]
    return { type, geometries: members.map((member) => restore(kernel, text, member)) } as Geometry
  }
  const { textStart, textEnd } = spanOf(text, value)!
  return { type, coordinates: JSON.parse(kernel.views().bytes.toString('latin1', textStart, textEnd)) } as Geometry
}
