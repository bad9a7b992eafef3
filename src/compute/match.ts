/** Finds the features of a set that match points. Each match is what a single request would answer (decision 161). */
import { pack, unpack } from '../base/bytes.ts'
import { ProblemError, problemAt, underPath, withHint } from '../base/problem.ts'
import { CM_PER_METER, toScaledInteger } from '../base/units.ts'
import { countWork, Work, WorkLimitError } from '../base/work.ts'
import { canonicalGeometry } from '../crypto/canonical.ts'
import { utf8 } from '../crypto/hex.ts'
import { createPoint, type FlatGeometry } from '../geometry/flat.ts'
import { contains } from '../topology/contains.ts'
import { UndecidableError } from '../topology/exact/undecidable.ts'
import { intersects } from '../topology/intersects.ts'
import type { Geometry } from '../types/generated.ts'
import { checkGeometry, rejectSalt } from '../validation/input.ts'
import { type JsonObject, parseJsonObject } from '../validation/json-body.ts'
import type { ComputeWorkerData } from '../wire/compute-messages.ts'
import type { MatchOptions, MatchResult, MatchTask, UnfinishedLine, UnsignedMatch } from '../wire/set-messages.ts'
import type { Hex } from '../wire/values.ts'
import { OPERATIONS } from './operations.ts'
import { type ComputeContext, type Operand, type Outcome, runOperation, tooComplexProblem } from './run.ts'
import { readId } from './set-features.ts'
import { SetIndex } from './set-index.ts'
import { encodeResult } from './task.ts'
import { kernelPoleResolver } from './validity.ts'

type Limits = ComputeWorkerData['limits']
type Computed = UnsignedMatch['computed']

/** Sets of which a thread remembers what it has computed. */
const MAX_INDEXES = 4
const indexes = new Map<string, SetIndex>()

/** Returns the index of a set in this thread. */
function findIndex(set: MatchTask['set']): SetIndex {
  const known = indexes.get(set.id)
  if (known !== undefined) return known
  const [oldest] = indexes.keys()
  if (indexes.size >= MAX_INDEXES) indexes.delete(oldest!)
  const index = new SetIndex(set)
  indexes.set(set.id, index)
  return index
}

/** Compares points with a set. Lines fail independently. */
export function runMatchTask(task: MatchTask, engine: ComputeContext, limits: Limits): MatchResult {
  const matcher = new Matcher(task, findIndex(task.set), engine)
  const unfinished = new Map<number, UnfinishedLine>()
  const texts: Uint8Array[] = []
  for (let line = 0; line + 1 < task.lines.offsets.length; line++) {
    const result = matchLine(unpack(task.lines, line), matcher, limits)
    if (typeof result === 'string') texts.push(utf8(result))
    else {
      texts.push(NO_BYTES)
      unfinished.set(line, result)
    }
  }
  return { type: 'matched', texts: pack(texts), unfinished }
}

const NO_BYTES = new Uint8Array(0)

function matchLine(bytes: Uint8Array, matcher: Matcher, limits: Limits): string | UnfinishedLine {
  let id = ''
  try {
    const value = parseJsonObject(bytes, limits.maxJsonDepth)
    const own = readId(value['id'])
    id = own === undefined ? '' : `"id":${own},`
    const point = readPoint(value, limits)
    return countWork(new Work(limits.maxWork), () => matcher.match(id, point))
  } catch (error) {
    const known =
      error instanceof WorkLimitError
        ? tooComplexProblem('the match', error)
        : error instanceof UndecidableError
          ? problemAt('invalid-input', [], error.message, { code: 'undecidable' })
          : error
    if (!(known instanceof ProblemError)) throw error
    return { id, outcome: { type: 'problem', problem: withHint(known.data, 'not-json', POINT_PER_LINE) } }
  }
}

type Point = Extract<Geometry, { readonly type: 'Point' }>

const POINT_PER_LINE = 'send one whole Point, or Feature of a Point, per line'

const NO_SALTED_POINT = {
  detail: 'is not for a point of a match, whose reference is its plain hash',
  hint: 'send operations to /compute/v0/batch, with {"input": {"type": "Point", …}, "salt": "random"}',
}

/** Reads a Point, or a Feature of one. */
function readPoint(value: JsonObject, { maxCollectionDepth }: Limits): Point {
  const { type } = value
  rejectSalt(value, [], NO_SALTED_POINT)
  if (type === undefined || type === 'FeatureCollection')
    throw problemAt('invalid-input', [], type === undefined ? 'has no type' : 'is a FeatureCollection', {
      code: 'wrong-geometry-type',
      hint: POINT_PER_LINE,
    })
  const isFeature = type === 'Feature'
  const path = isFeature ? ['geometry'] : []
  const geometry: unknown = isFeature ? value['geometry'] : value
  checkGeometry(geometry, path, maxCollectionDepth)
  if (geometry.type === 'Point') return geometry
  throw problemAt('invalid-input', path, `is a ${geometry.type}, and only Points are matched`, {
    code: 'wrong-geometry-type',
    hint: 'send a Point, or a Feature of one; for other geometries, send operations to /compute/v0/batch',
  })
}

interface Match {
  readonly feature: number
  /** Metres, rounded to centimetres. */
  readonly distance?: number
  readonly outcome: Outcome | undefined
}

class Matcher {
  readonly #options: MatchOptions
  readonly #signed: MatchTask['signed']
  readonly #timestampSeconds: number
  readonly #index: SetIndex
  readonly #engine: ComputeContext
  /** The point that is being matched, as a geometry that is used again for each. */
  readonly #point: FlatGeometry = createPoint()

  constructor({ options, signed, timestampSeconds }: MatchTask, index: SetIndex, engine: ComputeContext) {
    this.#options = options
    this.#signed = signed
    this.#timestampSeconds = timestampSeconds
    this.#index = index
    this.#engine = engine
  }

  /** @param id `"id":…,` as JSON, or empty */
  match(id: string, point: Point): string | UnfinishedLine {
    const { predicate, limit } = this.#options
    const [lon, lat] = point.coordinates
    this.#point.vertices[0] = lon
    this.#point.vertices[1] = lat
    if (this.#engine.counts !== undefined) this.#engine.counts.vertices++
    const pointRef = this.#signed && this.#engine.keccak.hashHex(utf8(canonicalGeometry(point)))
    const all = predicate === undefined ? this.#byDistance(lon, lat, pointRef) : this.#byPredicate(predicate, pointRef)
    const isTruncated = all.length > limit
    const matches = isTruncated ? all.slice(0, limit) : all
    if (this.#signed === undefined)
      return `{${id}${matchesText(
        matches.map((match) => this.#head(match)),
        isTruncated,
      )}}\n`
    const { chainId, recipient } = this.#signed
    const unsigned = matches.map((match): UnsignedMatch => {
      const request = { chainId, schema: undefined, recipient, submitOnchain: false }
      const row = OPERATIONS[predicate ?? 'distance']
      const computed = encodeResult(row, request, match.outcome!, this.#timestampSeconds) as Computed
      return { head: `${this.#head(match)},`, computed }
    })
    return { id, outcome: { type: 'matches', matches: unsigned, isTruncated } }
  }

  #byPredicate(predicate: 'contains' | 'intersects', pointRef: Hex | undefined): Match[] {
    const [lon, lat] = this.#point.vertices as unknown as [number, number]
    const { kernel } = this.#engine
    const decide = predicate === 'contains' ? contains : intersects
    const matches: Match[] = []
    for (const feature of this.#index.findAt(lon, lat)) {
      const topology = this.#index.topology(feature)
      if (!decide(topology, this.#point, kernelPoleResolver(kernel), kernel)) continue
      const outcome = pointRef && this.#outcome(predicate, feature, pointRef)
      matches.push({ feature, outcome })
      // One more than the limit shows that there are more.
      if (matches.length > this.#options.limit) break
    }
    return matches
  }

  /** Returns the nearest features, or all within the distance, the nearest first. */
  #byDistance(lon: number, lat: number, pointRef: Hex | undefined): Match[] {
    const { withinMeters, nearest = Number.POSITIVE_INFINITY, limit } = this.#options
    const radiusCm = withinMeters === undefined ? undefined : toScaledInteger(withinMeters, CM_PER_METER)
    // Distances up to half a centimetre beyond the radius round to it (decision 7).
    const radius = radiusCm === undefined ? Number.POSITIVE_INFINITY : (Number(radiusCm) + 0.5) / CM_PER_METER
    const most = Math.min(nearest, limit + 1)
    const found: { feature: number; meters: number; outcome: Outcome }[] = []
    const reach = () => (found.length < most ? radius : found[most - 1]!.meters)
    this.#index.visitNearest(lon, lat, reach, (feature) => {
      const outcome = this.#outcome('distance', feature, pointRef)
      if (outcome.kind !== 'numeric') throw new RangeError('a distance is a number')
      const { measure: meters, integer } = outcome
      if (radiusCm !== undefined && integer > radiusCm) return
      let at = found.length
      while (at > 0 && isBefore(meters, feature, found[at - 1]!)) at--
      found.splice(at, 0, { feature, meters, outcome })
      if (found.length > most) found.length = most
    })
    return found.map(({ feature, outcome }) => ({
      feature,
      distance: Number((outcome as { integer: bigint }).integer) / CM_PER_METER,
      outcome,
    }))
  }

  /** Computes what a request with the feature and the point would. @param pointRef undefined if no reference is needed */
  #outcome(operation: 'contains' | 'intersects' | 'distance', feature: number, pointRef: Hex | undefined): Outcome {
    const isSigned = pointRef !== undefined
    const { keccak } = this.#engine
    const shape = this.#index.shape(feature, isSigned ? this.#index.ref(feature, keccak) : this.#index.name(feature))
    const isPoint = shape.geometry.type === 'Point' && !isSigned
    const stored: Operand = {
      flat: shape.geometry,
      path: ['feature'],
      ref: isPoint ? undefined : shape.ref,
      ...(isPoint ? {} : { stored: shape }),
    }
    const point: Operand = { flat: this.#point, path: [], ref: isPoint ? undefined : (pointRef ?? NO_REF) }
    const operands = operation === 'distance' ? [point, stored] : [stored, point]
    try {
      return runOperation(OPERATIONS[operation], operands, {}, { ...this.#engine, counts: NO_COUNTS })
    } catch (error) {
      if (!(error instanceof ProblemError)) throw error
      throw new ProblemError(underPath(error.data, [this.#index.nameText(feature).slice('"feature":'.length)]))
    }
  }

  /** Writes the first members of a match, without the brace. */
  #head({ feature, distance }: Match): string {
    const { properties } = this.#options
    const name = this.#index.nameText(feature)
    const propertiesMember = properties === 'none' ? '' : `,"properties":${this.#properties(feature, properties)}`
    return `${name}${propertiesMember}${distance === undefined ? '' : `,"distance":${distance}`}`
  }

  #properties(feature: number, names: 'all' | readonly string[]): string {
    const text = this.#index.propertiesText(feature)
    if (names === 'all') return text
    const properties = (JSON.parse(text) ?? {}) as JsonObject
    return JSON.stringify(
      Object.fromEntries(names.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]]] : []))),
    )
  }
}

const NO_REF: Hex = '0x'
const NO_COUNTS = { vertices: 0 }

function isBefore(meters: number, feature: number, other: { readonly meters: number; readonly feature: number }) {
  return meters < other.meters || (meters === other.meters && feature < other.feature)
}

/** Writes the members of a line after its id. @param matches members of each match, without braces */
export function matchesText(matches: readonly string[], isTruncated: boolean): string {
  const list = matches.length === 0 ? '' : `{${matches.join('},{')}}`
  return `"matches":[${list}]${isTruncated ? ',"truncated":true' : ''}`
}
