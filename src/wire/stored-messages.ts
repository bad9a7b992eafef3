/** Geometries that an account has stored: the messages about them between threads, and the operations of the store. */

import type { ProblemData } from '../base/problem.ts'
import type { Geometry } from '../types/generated.ts'
import type { Hex } from './values.ts'

/** A `FlatGeometry` (`src/geometry/flat.ts`) whose arrays are shared memory. */
interface SharedGeometry {
  readonly type: Geometry['type']
  readonly vertices: Float64Array
  readonly sequenceStarts: Uint32Array
  readonly partStarts: Uint32Array
  readonly partDimensions: Uint8Array
  readonly elementStarts: Uint32Array
  readonly elementTypes: readonly Exclude<Geometry['type'], 'GeometryCollection'>[]
  readonly elementPaths: readonly (readonly (string | number)[])[]
}

/** A stored geometry as the compute threads use it. Its arrays are shared memory, so a message that names it copies none of them. */
export interface StoredShape {
  /** Hash of its canonical text: the entry of `inputRefs` that the same geometry would get in a request. */
  readonly ref: Hex
  readonly geometry: SharedGeometry
  /** Work of the check that found its polygons valid with planar edges; undefined if they are not, or if nothing is known. */
  readonly validityWork: number | undefined
  /** True if one of its polygons has an edge that is read as a whole parallel. */
  readonly hasWholeParallel: boolean
  /** How far its edges as geodesics leave those that are straight in longitude and latitude; undefined if that is not known. */
  readonly deviationMeters?: number
}

/** Geometries to read, check and hash. */
export interface PrepareTask {
  readonly type: 'prepare'
  /**
   * A request to store a geometry (`{"geometry": …}`), the canonical text of one that is stored, or an input that the items of a
   * batch name (`{"zone": …}`).
   */
  readonly source: 'request' | 'text' | 'named'
  readonly bytes: Uint8Array
}

export type PrepareResult =
  | {
      readonly type: 'prepared'
      readonly shape: StoredShape
      /** Canonical text (RFC 8785), which the reference is the hash of. Only for a request. */
      readonly text: string | undefined
    }
  /** A named input that is not a geometry. `ref` is the hash of a stored geometry, if it is one. */
  | { readonly type: 'reference'; readonly ref: Hex | undefined }
  | { readonly type: 'problem'; readonly problem: ProblemData }

/** What is stored under a reference. Times are milliseconds since the epoch. */
export interface StoredGeometry {
  readonly ref: Hex
  /** Size of its canonical text. */
  readonly bytes: number
  readonly createdMs: number
  readonly expiresMs: number
}

/** Bytes that stored geometries may take. */
export interface StoredLimits {
  /** Of all accounts. */
  readonly maxBytes: number
  /** Of one account. */
  readonly maxAccountBytes: number
}

export interface StoredOperations {
  /** Stores a geometry. If the account has it already, only its expiry changes. */
  putGeometry: {
    argument: {
      readonly account: string
      readonly ref: Hex
      readonly text: string
      readonly bytes: number
      readonly expiresMs: number
      readonly limits: StoredLimits
      readonly nowMs: number
    }
    /** `share`: the account has no room for it, and uses `usedBytes`; `full`: all accounts together have none. */
    result:
      | { readonly outcome: 'stored'; readonly geometry: StoredGeometry }
      | { readonly outcome: 'share' | 'full'; readonly usedBytes: number }
  }
  /**
   * Finds which of some geometries an account has, and postpones the expiry of those that expire before `renewBeforeMs`. A
   * geometry in use thus does not expire.
   */
  useGeometries: {
    argument: {
      readonly account: string
      readonly refs: readonly Hex[]
      readonly expiresMs: number
      readonly renewBeforeMs: number
      readonly nowMs: number
    }
    result: readonly Hex[]
  }
  /** The text of a geometry; undefined if the account has none. */
  readGeometry: {
    argument: { readonly account: string; readonly ref: Hex; readonly nowMs: number }
    result: (StoredGeometry & { readonly text: string }) | undefined
  }
  /** The geometries of an account, those stored last first, and the bytes of all of them. */
  listGeometries: {
    argument: { readonly account: string; readonly limit: number; readonly nowMs: number }
    result: { readonly geometries: readonly StoredGeometry[]; readonly count: number; readonly usedBytes: number }
  }
  /** Returns false if the account has no such geometry. */
  deleteGeometry: {
    argument: { readonly account: string; readonly ref: Hex; readonly nowMs: number }
    result: boolean
  }
}
