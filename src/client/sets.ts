import type { GeometryLike } from '../geometry/geometry-like.ts'
import type { DeletedSet, MatchLine, SetFeature, StoredSet, StoredSetList } from '../types/generated.ts'
import { sendLines } from './batch.ts'
import { isObject, requireChain } from './forms.ts'
import { readJsonLines } from './lines.ts'
import type { CallOptions, Transport } from './transport.ts'

/** A feature of a set, whose geometry may have the types of another GeoJSON library. */
export type SetFeatureLike =
  | SetFeature
  | {
      readonly type: 'Feature'
      readonly id?: string | number | undefined
      readonly geometry: GeometryLike
      readonly properties?: object | null
    }

/** A FeatureCollection, whose features may have the types of another GeoJSON library. */
export interface FeatureCollectionLike {
  readonly type: 'FeatureCollection'
  readonly features: readonly SetFeatureLike[]
}

/** A Point, or a Feature of one, whose `id` is returned with its matches. */
export type PointLike =
  | { readonly type: 'Point'; readonly coordinates: readonly number[]; readonly id?: string | number | undefined }
  | SetFeatureLike

export interface MatchCallOptions extends CallOptions {
  /** By default `intersects`; without `withinMeters` and `nearest` only. */
  readonly predicate?: 'contains' | 'intersects' | undefined
  readonly withinMeters?: number | undefined
  /** The nearest features, at most this many. */
  readonly nearest?: number | undefined
  /** The most matches of one point; by default 100, at most 1000. */
  readonly limit?: number | undefined
  /** True for all properties of the features that match, or the names of some. */
  readonly properties?: boolean | readonly string[] | undefined
  /** `each` signs every match. */
  readonly attest?: 'none' | 'each' | undefined
  /** The chain that matches are signed for; by default that of the client. */
  readonly chainId?: number | undefined
  readonly recipient?: string | undefined
}

/** Sets of features that the service keeps for the API key of the client, with which points are matched. */
export interface Sets {
  /**
   * Stores features in place of the set of this name. The old set answers until all of them are stored.
   *
   * @throws {TypeError} if `features` is neither a FeatureCollection nor an iterable of Features
   * @throws {ApiError} with status 400 for the first wrong feature or if there are none, 413 if the quota of the key does not suffice
   */
  put(
    name: string,
    features: FeatureCollectionLike | Iterable<SetFeatureLike>,
    options?: CallOptions,
  ): Promise<StoredSet>
  list(options?: CallOptions): Promise<readonly StoredSet[]>
  /** Reads size and age. @throws {ApiError} with status 404 if the key has no such set */
  get(name: string, options?: CallOptions): Promise<StoredSet>
  /** Yields the features in the order in which they were stored. */
  features(name: string, options?: CallOptions): AsyncGenerator<SetFeature, void, undefined>
  delete(name: string, options?: CallOptions): Promise<DeletedSet>
  /** Yields a line for each point, in their order. Sends the points in requests of `POINTS_PER_REQUEST`. */
  match(
    name: string,
    points: Iterable<PointLike> | AsyncIterable<PointLike>,
    options?: MatchCallOptions,
  ): AsyncGenerator<MatchLine, void, undefined>
}

const PATH = '/compute/v0/sets'
const POINTS_PER_REQUEST = 10_000

export function createSets(transport: Transport, defaultChainId: number | undefined): Sets {
  const pathOf = (name: string, more = '') => `${PATH}/${encodeURIComponent(name)}${more}`
  const matchLines = async (path: string, lines: readonly string[], options: CallOptions) => {
    const results: MatchLine[] = []
    await sendLines<MatchLine>(transport, { path, lines, take: (line) => results.push(line) }, options)
    return results
  }
  return {
    put: async (name, features, options) => {
      const body = Array.from(iterableOf(features), (feature) => `${JSON.stringify(feature)}\n`).join('')
      const call = { method: 'PUT', path: pathOf(name), body, contentType: 'application/x-ndjson' } as const
      return transport.json(call, options)
    },
    list: async (options) => (await transport.json<StoredSetList>({ method: 'GET', path: PATH }, options)).sets,
    get: async (name, options) => transport.json({ method: 'GET', path: pathOf(name) }, options),
    async *features(name, options) {
      const response = await transport.open({ method: 'GET', path: pathOf(name, '/features') }, options)
      yield* readJsonLines<SetFeature>(response.pieces())
    },
    delete: async (name, options) => transport.json({ method: 'DELETE', path: pathOf(name) }, options),
    async *match(name, points, options = {}) {
      const path = pathOf(name, `/match?${matchQuery(options, defaultChainId)}`)
      let lines: string[] = []
      for await (const point of points) {
        lines.push(JSON.stringify(point))
        if (lines.length < POINTS_PER_REQUEST) continue
        yield* await matchLines(path, lines, options)
        lines = []
      }
      yield* await matchLines(path, lines, options)
    },
  }
}

/** Returns the features. Checks them for callers without types: `Array.from` would read an object without an iterator as an empty list. */
function iterableOf(features: FeatureCollectionLike | Iterable<SetFeatureLike>): Iterable<SetFeatureLike> {
  const list: unknown = isObject(features) && features['type'] === 'FeatureCollection' ? features['features'] : features
  const isIterable = typeof list === 'object' && list !== null && Symbol.iterator in list
  if (!isIterable) throw new TypeError('features: must be a FeatureCollection or an iterable of Features')
  return list as Iterable<SetFeatureLike>
}

function matchQuery(options: MatchCallOptions, defaultChainId: number | undefined): string {
  const { predicate, withinMeters, nearest, limit, properties, attest, recipient } = options
  const query = new URLSearchParams()
  const values = { predicate, within: withinMeters, nearest, limit, attest, recipient }
  for (const [name, value] of Object.entries(values)) if (value !== undefined) query.set(name, String(value))
  if (properties !== undefined) query.set('properties', String(properties))
  if (attest === 'each') query.set('chainId', String(requireChain(options.chainId ?? defaultChainId)))
  return query.toString()
}
