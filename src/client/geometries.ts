import type { GeometryLike } from '../geometry/geometry-like.ts'
import type { DeletedGeometry, Geometry, StoredGeometry, StoredGeometryList } from '../types/generated.ts'
import { toInput } from './forms.ts'
import type { CallOptions, Transport } from './transport.ts'

/** Geometries that the service keeps for the API key of the client. Requests name them by their hash: `{ref}` is an input. */
export interface StoredGeometries {
  /**
   * Stores a geometry, or the geometry of a Feature. Storing it again only postpones its expiry.
   *
   * @returns its hash as `ref`, which is the reference that the geometry has in every result
   * @throws {ApiError} with status 413 if the quota of the key does not suffice
   */
  put(
    geometry: GeometryLike | { readonly type: 'Feature'; readonly geometry: GeometryLike },
    options?: CallOptions,
  ): Promise<StoredGeometry>
  /** Lists them, newest first, without their coordinates, with the quota of the key. */
  list(options?: CallOptions): Promise<StoredGeometryList>
  /** Reads one. @throws {ApiError} with status 404 if the key has not stored it */
  get(ref: string, options?: CallOptions): Promise<StoredGeometry & { readonly geometry: Geometry }>
  /** Deletes one. @throws {ApiError} with status 404 if the key has not stored it */
  delete(ref: string, options?: CallOptions): Promise<DeletedGeometry>
}

const PATH = '/compute/v0/geometries'

export function createGeometries(transport: Transport): StoredGeometries {
  const pathOf = (ref: string) => `${PATH}/${encodeURIComponent(ref)}`
  return {
    put: async (geometry, options) => {
      const body = JSON.stringify({ geometry: toInput(geometry) })
      return transport.json({ method: 'PUT', path: PATH, body }, options)
    },
    list: async (options) => transport.json({ method: 'GET', path: PATH }, options),
    get: async (ref, options) => transport.json({ method: 'GET', path: pathOf(ref) }, options),
    delete: async (ref, options) => transport.json({ method: 'DELETE', path: pathOf(ref) }, options),
  }
}
