import { pack, unpack } from '../base/bytes.ts'
import { ProblemError, problemAt, underPath, withHint } from '../base/problem.ts'
import { countWork, Work, WorkLimitError } from '../base/work.ts'
import { utf8 } from '../crypto/hex.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { readGeometry } from '../geometry/read.ts'
import type { Geometry } from '../types/generated.ts'
import { checkGeometry, rejectSalt } from '../validation/input.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../validation/json-body.ts'
import { NO_SALTED_FEATURE } from '../validation/set-request.ts'
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import { type FeaturesResult, type FeaturesTask, SET_TYPES, type SetFeatures } from '../wire/set-messages.ts'
import { type ComputeContext, tooComplexProblem } from './run.ts'
import { checkInterior } from './validity.ts'

type Limits = ComputeWorkerData['limits']

/**
 * A feature of a set may be this many times larger than a geometry of a request, and its check may take as much more work: it is read
 * once, and the outlines of some countries are that large.
 */
const SIZE_FACTOR = 4
/** The longest id of a feature, in characters of JSON. */
const MAX_ID_CHARACTERS = 130

/**
 * Reads the features of a set from lines of GeoJSON. Those of a client are checked: polygons must be valid for predicates, so that no
 * match has to check them.
 *
 * @returns problems as data, with the index of the feature in their path
 */
export function runFeaturesTask(task: FeaturesTask, engine: ComputeContext, limits: Limits): FeaturesResult {
  const count = task.lines.offsets.length - 1
  const builder = new FeaturesBuilder()
  const sizes = { maxVertices: SIZE_FACTOR * limits.maxVertices, maxParts: SIZE_FACTOR * limits.maxParts }
  const texts: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const feature = task.first + index
    try {
      const line = unpack(task.lines, index)
      const { geometry, id, properties } = task.isRequest
        ? readFeature(parseJsonObject(line, limits.maxJsonDepth), limits)
        : readStoredFeature(line)
      const flat = readGeometry(geometry, ['geometry'], sizes)
      if (task.isRequest) {
        checkPolygons(flat, engine)
        texts.push(utf8(featureText(id, geometry, properties)))
        if (engine.counts !== undefined) engine.counts.vertices += flat.vertices.length / 2
      }
      builder.add(flat, `"feature":${id ?? feature}`, properties)
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      const hint = 'in application/x-ndjson each line is one whole Feature; send other GeoJSON as application/json'
      return { type: 'problem', problem: underPath(withHint(error.data, 'not-json', hint), ['features', feature]) }
    }
  }
  const { buffer } = pack(texts)
  return { type: 'features', features: builder.finish(), text: task.isRequest ? new Uint8Array(buffer) : undefined }
}

interface Feature {
  readonly geometry: Exclude<Geometry, { readonly type: 'GeometryCollection' }>
  /** As JSON; undefined if it has none. */
  readonly id: string | undefined
  /** As JSON. */
  readonly properties: string
}

/** Reads a line that `featureText` has written, which needs no check. */
function readStoredFeature(line: Uint8Array): Feature {
  const { id, geometry, properties } = JSON.parse(Buffer.from(line.buffer, line.byteOffset, line.byteLength).toString())
  return { geometry, id: id === undefined ? undefined : JSON.stringify(id), properties: JSON.stringify(properties) }
}

function readFeature(value: JsonObject, limits: Limits): Feature {
  if (value['type'] === 'FeatureCollection')
    throw problemAt('invalid-input', [], 'is a FeatureCollection, and must be a Feature', {
      code: 'feature-collection',
      hint: 'send a FeatureCollection as application/json, and lines of Features as application/x-ndjson',
    })
  rejectSalt(value, [], NO_SALTED_FEATURE)
  const isFeature = value['type'] === 'Feature'
  const received = isFeature ? value['geometry'] : value
  const path = isFeature ? ['geometry'] : []
  if (received === null || received === undefined)
    throw problemAt('invalid-input', path, 'is missing: the Feature has no geometry', { code: 'null-geometry' })
  checkGeometry(received, path, limits.maxCollectionDepth)
  if (received.type === 'GeometryCollection')
    throw problemAt('invalid-input', path, 'is a GeometryCollection, and the features of a set have one type each', {
      code: 'wrong-geometry-type',
      hint: 'make one feature of each member',
    })
  const properties = isFeature ? (value['properties'] ?? null) : null
  if (properties !== null && !isJsonObject(properties))
    throw problemAt('invalid-input', ['properties'], 'must be an object or null', { code: 'wrong-type' })
  return { geometry: withoutHeights(received), id: readId(value['id']), properties: JSON.stringify(properties) }
}

/**
 * Returns the id of a GeoJSON object as JSON; undefined if it has none.
 *
 * @throws {ProblemError} if it is neither text nor a number, or a number that cannot be returned as it was sent
 */
export function readId(id: unknown): string | undefined {
  if (id === undefined || id === null) return undefined
  if (typeof id === 'number' && !(Math.abs(id) <= Number.MAX_SAFE_INTEGER))
    throw problemAt(
      'invalid-input',
      ['id'],
      `must be a number from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`,
      {
        code: 'id-range',
        hint: 'send a larger id as a string',
      },
    )
  const text = JSON.stringify(id)
  const isShort = text.length <= MAX_ID_CHARACTERS
  if ((typeof id === 'string' || typeof id === 'number') && isShort) return text
  throw problemAt('invalid-input', ['id'], 'must be a number, or a string of at most 128 characters', {
    code: 'wrong-type',
  })
}

/** Heights are not kept. So the reference of a feature is that of the geometry that the service returns for it. */
function withoutHeights(geometry: Feature['geometry']): Feature['geometry'] {
  const drop = (coordinates: unknown): unknown =>
    typeof (coordinates as unknown[])[0] === 'number'
      ? (coordinates as unknown[]).slice(0, 2)
      : (coordinates as unknown[]).map(drop)
  return { type: geometry.type, coordinates: drop(geometry.coordinates) } as Feature['geometry']
}

function featureText(id: string | undefined, { type, coordinates }: Feature['geometry'], properties: string): string {
  const idMember = id === undefined ? '' : `"id":${id},`
  const geometry = `{"type":"${type}","coordinates":${JSON.stringify(coordinates)}}`
  return `{"type":"Feature",${idMember}"geometry":${geometry},"properties":${properties}}\n`
}

function checkPolygons(geometry: FlatGeometry, { kernel, limits }: ComputeContext): void {
  try {
    countWork(new Work(SIZE_FACTOR * limits.maxWork), () => checkInterior(geometry, ['geometry'], kernel))
  } catch (error) {
    throw error instanceof WorkLimitError ? tooComplexProblem('the check of the polygon', error) : error
  }
}

/** Joins flat geometries, none of which is a GeometryCollection. */
class FeaturesBuilder {
  readonly #geometries: FlatGeometry[] = []
  readonly #texts: Uint8Array[] = []

  /** @param name the member that names the feature, as JSON */
  add(geometry: FlatGeometry, name: string, properties: string): void {
    this.#geometries.push(geometry)
    this.#texts.push(utf8(name), utf8(properties))
  }

  finish(): SetFeatures {
    const { buffer, offsets } = pack(this.#texts)
    const geometries = this.#geometries
    const sum = (lengthOf: (geometry: FlatGeometry) => number) =>
      geometries.reduce((total, geometry) => total + lengthOf(geometry), 0)
    const vertices = new Float64Array(sum((geometry) => geometry.vertices.length))
    const sequenceStarts = new Uint32Array(sum((geometry) => geometry.sequenceStarts.length - 1) + 1)
    const partStarts = new Uint32Array(sum((geometry) => geometry.partStarts.length - 1) + 1)
    const featureStarts = new Uint32Array(geometries.length + 1)
    const types = Uint8Array.from(geometries, ({ type }) => SET_TYPES.indexOf(type as (typeof SET_TYPES)[number]))
    let [vertex, sequence, part] = [0, 0, 0]
    for (const [feature, geometry] of geometries.entries()) {
      vertices.set(geometry.vertices, 2 * vertex)
      for (let i = 1; i < geometry.partStarts.length; i++) partStarts[part + i] = sequence + geometry.partStarts[i]!
      for (let i = 1; i < geometry.sequenceStarts.length; i++)
        sequenceStarts[sequence + i] = vertex + geometry.sequenceStarts[i]!
      vertex += geometry.vertices.length / 2
      sequence += geometry.sequenceStarts.length - 1
      part += geometry.partStarts.length - 1
      featureStarts[feature + 1] = part
    }
    return {
      vertices,
      sequenceStarts,
      partStarts,
      featureStarts,
      types,
      texts: new Uint8Array(buffer),
      textStarts: offsets,
    }
  }
}
