/** Sets of features that an account has stored: the messages about them between threads, and the operations of the store. */

import type { PackedBytes } from '../base/bytes.ts'
import type { ProblemData } from '../base/problem.ts'
import type { ComputeResult } from './compute-messages.ts'
import type { StoredLimits } from './stored-messages.ts'
import type { Hex } from './values.ts'

/** The types of features in a set, in the order of the numbers in `SetFeatures.types`. */
export const SET_TYPES = ['Point', 'MultiPoint', 'LineString', 'MultiLineString', 'Polygon', 'MultiPolygon'] as const

/**
 * The geometries of features as flat arrays. Each level holds offsets into the next one, with one entry more than it has items: a feature
 * consists of parts, a part of sequences, a sequence of vertices.
 */
export interface SetFeatures {
  /** Interleaved [lon0, lat0, …], degrees. */
  readonly vertices: Float64Array
  readonly sequenceStarts: Uint32Array
  readonly partStarts: Uint32Array
  readonly featureStarts: Uint32Array
  /** By feature. */
  readonly types: Uint8Array
  /** By feature, two pieces of JSON: `"feature":…`, and the properties. */
  readonly texts: Uint8Array
  /** Offsets into `texts`, two for each feature. */
  readonly textStarts: Uint32Array
}

/** The index of a set. */
export interface SetTrees {
  /**
   * A packed Hilbert R-tree. Boxes of nodes are west, south, east, north; the leaves come first, in the order of their Hilbert values.
   * They hold the edges of their features both as straight lines and as geodesics.
   */
  readonly boxes: Float32Array
  /** By leaf, its feature. */
  readonly leafFeatures: Uint32Array
  /** Features whose edges have a tree, ascending, and the offset of each in the arrays below, in leaves and in nodes. */
  readonly treeFeatures: Uint32Array
  readonly treeLeafStarts: Uint32Array
  readonly treeNodeStarts: Uint32Array
  readonly edgeBoxes: Float64Array
  readonly edgeLeafFirst: Int32Array
  readonly edgeLeafLast: Int32Array
  readonly edgeLeafSequence: Int32Array
}

/** A set as the compute threads use it. Its arrays are shared memory, so a message that names it copies none of them. */
export interface SetShape {
  /** Names its content. */
  readonly id: string
  readonly count: number
  readonly features: SetFeatures
  readonly trees: SetTrees
}

/** Features to read and check: lines of GeoJSON. */
export interface FeaturesTask {
  readonly type: 'features'
  readonly lines: PackedBytes
  /** Index of the first feature in the set. */
  readonly first: number
  /** True for lines of a client, whose polygons are checked; false for those that are stored. */
  readonly isRequest: boolean
}

export type FeaturesResult =
  | {
      readonly type: 'features'
      readonly features: SetFeatures
      /** The lines as they are stored. Only for a request. */
      readonly text: Uint8Array | undefined
    }
  | { readonly type: 'problem'; readonly problem: ProblemData }

/** Features whose index is to be built. */
export interface IndexTask {
  readonly type: 'index'
  /** In shared memory. */
  readonly features: SetFeatures
}

export interface IndexResult {
  readonly type: 'indexed'
  readonly trees: SetTrees
}

/** Which features match a point. */
export interface MatchOptions {
  /** Undefined if features match by their distance. */
  readonly predicate: 'contains' | 'intersects' | undefined
  /** The largest distance. */
  readonly withinMeters: number | undefined
  /** The number of nearest features. */
  readonly nearest: number | undefined
  /** All properties, none, or those with these names. */
  readonly properties: 'all' | 'none' | readonly string[]
  /** The most matches of one point. */
  readonly limit: number
}

/** Points to compare with a set. */
export interface MatchTask {
  readonly type: 'match'
  readonly set: SetShape
  readonly options: MatchOptions
  /** Lines of GeoJSON. */
  readonly lines: PackedBytes
  /** Set if each match is to be signed. */
  readonly signed: { readonly chainId: number; readonly recipient: Hex } | undefined
  readonly timestampSeconds: number
}

/** A match that is to be signed. */
export interface UnsignedMatch {
  /** JSON members, each followed by a comma. */
  readonly head: string
  readonly computed: Extract<ComputeResult, { type: 'computed' }>
}

/** A line whose result main has to finish. */
export interface UnfinishedLine {
  /** `"id":…,` as JSON; empty if the line has no id. */
  readonly id: string
  readonly outcome:
    | { readonly type: 'problem'; readonly problem: ProblemData }
    | { readonly type: 'matches'; readonly matches: readonly UnsignedMatch[]; readonly isTruncated: boolean }
}

export interface MatchResult {
  readonly type: 'matched'
  /** The results, each followed by a newline. Those of unfinished lines are empty. */
  readonly texts: PackedBytes
  /** By the index of the line. */
  readonly unfinished: ReadonlyMap<number, UnfinishedLine>
}

/** A set as it is stored. Times are milliseconds since the epoch. */
export interface StoredSet {
  readonly id: string
  readonly name: string
  readonly count: number
  readonly vertices: number
  /** Size of its features as lines of JSON. */
  readonly bytes: number
  readonly createdMs: number
  readonly expiresMs: number
}

export interface SetOperations {
  /** Begins a set. Nothing reads it before `publishSet`. Returns false if too many of the account are being received. */
  createSet: {
    argument: {
      readonly id: string
      readonly account: string
      readonly name: string
      /** When it is deleted unless `holdSet` postpones this or it is published. */
      readonly expiresMs: number
      readonly maxReceiving: number
      /** Sets that the account began before are deleted if they are still being received: their process has ended. */
      readonly abandonedBeforeMs: number
      readonly nowMs: number
    }
    result: boolean
  }
  /** Postpones the deletion of a set that is being received. */
  holdSet: {
    argument: { readonly id: string; readonly expiresMs: number; readonly nowMs: number }
    result: undefined
  }
  /** Adds features to a set that is being received. `gone`: there is none; `share` and `full` as for `putGeometry`. */
  appendSet: {
    argument: {
      readonly id: string
      readonly first: number
      readonly count: number
      readonly vertices: number
      /** Lines of GeoJSON, compressed. */
      readonly stored: Uint8Array
      /** Size of the lines. */
      readonly bytes: number
      readonly limits: StoredLimits
      readonly nowMs: number
    }
    result: { readonly outcome: 'stored' | 'gone' } | { readonly outcome: 'share' | 'full'; readonly usedBytes: number }
  }
  /** Replaces the set of the same name by this one, in one step. Undefined if it is not being received. */
  publishSet: {
    argument: { readonly id: string; readonly expiresMs: number; readonly nowMs: number }
    result: StoredSet | undefined
  }
  /** Deletes a set that is being received. */
  dropSet: { argument: { readonly id: string }; result: undefined }
  /** Finds the set of an account, and postpones its expiry as `useGeometries` does. */
  useSet: {
    argument: {
      readonly account: string
      readonly name: string
      readonly expiresMs: number
      readonly renewBeforeMs: number
      readonly nowMs: number
    }
    result: StoredSet | undefined
  }
  listSets: { argument: { readonly account: string; readonly nowMs: number }; result: readonly StoredSet[] }
  /** Returns false if the account has no such set. */
  deleteSet: {
    argument: { readonly account: string; readonly name: string; readonly nowMs: number }
    result: boolean
  }
  /** The chunk that begins with this feature; undefined if there is none. */
  readSetChunk: {
    argument: { readonly id: string; readonly first: number }
    result: { readonly count: number; readonly stored: Uint8Array } | undefined
  }
}
