import { ProblemError, problemAt } from '../base/problem.ts'
import { countWork, Work, WorkLimitError } from '../base/work.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import { planarDeviationMeters } from '../geodesy/planar-deviation.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { readGeometry } from '../geometry/read.ts'
import { hasWholeParallel } from '../geometry/whole-parallels.ts'
import type { Geometry } from '../types/generated.ts'
import { readInput, rejectSalt } from '../validation/input.ts'
import { isJsonObject, type JsonObject, parseJsonObject } from '../validation/json-body.ts'
import type { ComputeWorkerData, Input } from '../wire/compute-messages.ts'
import type { PrepareResult, PrepareTask, StoredShape } from '../wire/stored-messages.ts'
import type { ComputeContext } from './run.ts'
import { checkInterior } from './validity.ts'

type Limits = ComputeWorkerData['limits']

/**
 * Reads a geometry that is to be stored, one that is, or an input that the items of a batch name. A geometry may be any geometry that an operation accepts as an input. Whether its
 * polygons are valid decides only the operations that need it, as for a geometry in a request.
 *
 * @returns problems as data, because an Error would lose its class on the way to the main thread
 */
export function runPrepareTask(task: PrepareTask, engine: ComputeContext, limits: Limits): PrepareResult {
  try {
    const isRequest = task.source === 'request'
    const body = parseJsonObject(task.bytes, limits.maxJsonDepth)
    const named = task.source === 'named' ? readNamedInput(body, limits) : undefined
    if (named !== undefined && named.form !== 'geometry')
      return { type: 'reference', ref: named.form === 'stored' ? named.ref : undefined }
    const geometry = named?.geometry ?? (isRequest ? requestedGeometry(body, limits) : (body as unknown as Geometry))
    const flat = readGeometry(geometry, named?.path ?? ['geometry'], limits)
    const text = canonicalGeometry(geometry)
    const ref = engine.keccak.hashHex(utf8(text))
    const shape: StoredShape = {
      ref,
      geometry: toShared(flat),
      validityWork: findValidityWork(flat, engine),
      hasWholeParallel: hasWholeParallel(flat),
      deviationMeters: planarDeviationMeters(flat),
    }
    if (task.source !== 'text' && engine.counts !== undefined) engine.counts.vertices += flat.vertices.length / 2
    return { type: 'prepared', shape, text: isRequest ? text : undefined }
  } catch (error) {
    if (error instanceof ProblemError) return { type: 'problem', problem: error.data }
    throw error
  }
}

/**
 * Reads an input that the items of a batch name.
 *
 * @param table an object whose only member is the input
 */
function readNamedInput(table: JsonObject, limits: Limits): Input {
  const [name, value] = Object.entries(table)[0]!
  const path = ['geometries', name]
  const input = readInput(value, path, limits.maxCollectionDepth)
  if (input.form === 'named') {
    throw problemAt('invalid-input', path, 'refers to another name', {
      code: 'name-of-name',
      hint: 'send the geometry under each name, or use one name in the items',
    })
  }
  if (input.form === 'attested' || input.form === 'proof') {
    throw problemAt(
      'invalid-input',
      path,
      'is signed evidence, which would be checked again for each use of its name',
      {
        code: 'name-of-evidence',
        hint: 'send it in the items, or send the geometry itself under the name',
      },
    )
  }
  if (input.salt !== undefined) {
    throw problemAt('invalid-input', [...path, 'salt'], 'belongs to the item that uses the name', {
      code: 'salt-in-table',
      hint: `send {"input": {"named": ${JSON.stringify(name)}}, "salt": …} in the item`,
    })
  }
  return input
}

const NO_SALTED_STORE = {
  detail: 'is not stored: a stored geometry is known by its plain hash',
  hint: 'send the salt in each request, as {"input": {"ref": "0x…"}, "salt": "random"}',
}

function requestedGeometry(body: unknown, limits: Limits): Geometry {
  if (!isJsonObject(body) || !Object.hasOwn(body, 'geometry'))
    throw problemAt('invalid-input', ['geometry'], 'is missing', {
      code: 'missing-member',
      hint: 'send {"geometry": {"type": "Polygon", "coordinates": …}}',
    })
  rejectSalt(body, [], NO_SALTED_STORE)
  const input = readInput(body['geometry'], ['geometry'], limits.maxCollectionDepth)
  if (input.form === 'geometry') return input.geometry
  throw problemAt('invalid-input', ['geometry'], 'is not a GeoJSON geometry, and only these are stored', {
    code: 'unknown-input',
    hint: 'send a geometry or a Feature',
  })
}

/** Returns the work of the check that finds the polygons valid; undefined if they are not, or if the check takes too much. */
function findValidityWork(geometry: FlatGeometry, { kernel, limits }: ComputeContext): number | undefined {
  const work = new Work(limits.maxWork)
  try {
    countWork(work, () => checkInterior(geometry, ['geometry'], kernel))
    return work.done
  } catch (error) {
    if (error instanceof ProblemError || error instanceof WorkLimitError) return undefined
    throw error
  }
}

/** Copies the arrays into shared memory. */
function toShared(geometry: FlatGeometry): StoredShape['geometry'] {
  const { vertices, sequenceStarts, partStarts, partDimensions, elementStarts } = geometry
  const sharedVertices = new Float64Array(new SharedArrayBuffer(vertices.byteLength))
  sharedVertices.set(vertices)
  const sharedParts = new Uint8Array(new SharedArrayBuffer(partDimensions.byteLength))
  sharedParts.set(partDimensions)
  return {
    ...geometry,
    vertices: sharedVertices,
    sequenceStarts: sharedOffsets(sequenceStarts),
    partStarts: sharedOffsets(partStarts),
    partDimensions: sharedParts,
    elementStarts: sharedOffsets(elementStarts),
  }
}

function sharedOffsets(offsets: Uint32Array): Uint32Array {
  const shared = new Uint32Array(new SharedArrayBuffer(offsets.byteLength))
  shared.set(offsets)
  return shared
}
