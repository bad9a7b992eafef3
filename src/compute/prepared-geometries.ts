import { type Walls, wallsOf } from '../geodesy/geodesic-predicates.ts'
import { PreparedDistance, prepareDistance, reservePreparedMemory } from '../geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import { type PreparedTopology, prepareTopology } from '../topology/plane/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { StoredShape } from '../wire/stored-messages.ts'
import type { Hex } from '../wire/values.ts'

/** For smaller geometries, building an index costs more than any query could save. */
const MIN_VERTICES = 64
/** Number of references remembered after they were seen once. */
const MAX_SEEN = 4096

/**
 * A bounded cache of prepared geometries. It pays off because callers often query many points against one polygon.
 *
 * A geometry is cached when it is seen for the second time, under the hash of its canonical text. The least recently used entries
 * are evicted when the cache exceeds its size. Results are the same with and without the cache. Each thread has its own.
 */
export class PreparedGeometries {
  readonly #kernel: Kernel
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #entries = new Map<Hex, PreparedGeometry>()
  readonly #seen = new Set<Hex>()

  /**
   * @param kernel holds the indexes for distances in its memory; a kernel can serve only one cache
   * @param maxBytes size of the cache
   * @param kernelBytes size of the kernel memory reserved for those indexes
   */
  constructor(kernel: Kernel, maxBytes: number, kernelBytes = maxBytes) {
    reservePreparedMemory(kernel, kernelBytes)
    this.#kernel = kernel
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** Total size of the cached entries. */
  get byteLength(): number {
    let bytes = 0
    for (const entry of this.#entries.values()) bytes += entry.byteLength
    return bytes
  }

  /**
   * Returns the cached entry of a geometry, and adds one when the geometry is seen for the second time.
   *
   * @param ref hash of the geometry's canonical text, which identifies the geometry
   * @returns undefined for a small geometry, or one seen for the first time
   */
  find(ref: Hex, geometry: FlatGeometry): PreparedGeometry | undefined {
    if (geometry.vertices.length < 2 * MIN_VERTICES) return undefined
    const known = this.#entries.get(ref)
    if (known !== undefined) {
      // Move it to the end: it is now the most recently used.
      this.#entries.delete(ref)
      this.#entries.set(ref, known)
      return known
    }
    if (!this.#seen.delete(ref)) {
      if (this.#seen.size >= MAX_SEEN) this.#seen.clear()
      this.#seen.add(ref)
      return undefined
    }
    const entry = new PreparedGeometry(geometry, this.#kernel, () => this.#freeOne())
    this.#entries.set(ref, entry)
    return entry
  }

  /** Returns the cached entry of a stored geometry, and adds one when it is used for the first time; undefined for a small one. */
  findStored({
    ref,
    geometry,
    validityWork,
    hasWholeParallel,
    deviationMeters,
  }: StoredShape): PreparedGeometry | undefined {
    if (!this.#entries.has(ref)) this.#seen.add(ref)
    const entry = this.find(ref, geometry)
    if (entry === undefined) return undefined
    entry.validityWork ??= validityWork
    entry.hasWholeParallel ??= hasWholeParallel
    entry.deviationMeters ??= deviationMeters
    return entry
  }

  /**
   * Returns true if the cache holds this very object, so that its arrays must not be freed.
   *
   * @param ref as for `find`
   */
  holds(ref: Hex, geometry: FlatGeometry): boolean {
    return this.#entries.get(ref)?.geometry === geometry
  }

  /** Evicts entries until the cache is no larger than allowed. Call it after each operation, because operations build indexes. */
  trim(): void {
    let bytes = this.byteLength
    for (const [ref, entry] of this.#entries) {
      if (bytes <= this.#maxBytes) return
      bytes -= entry.byteLength
      this.#entries.delete(ref)
      entry.release()
    }
  }

  /** Frees the kernel memory of the least recently used entry that has some. @returns false if there is none to free */
  #freeOne(): boolean {
    for (const entry of this.#entries.values()) if (entry.release()) return true
    return false
  }
}

/** One cached geometry. Each index is built when it is first needed. */
export class PreparedGeometry {
  readonly geometry: FlatGeometry
  /** Work of the check that found its polygons valid with planar edges; undefined before that check. */
  validityWork: number | undefined = undefined
  /** Work of the check that found them valid with planar and geodesic edges. */
  geodesicValidityWork: number | undefined = undefined
  /** True once a check found no hole with edges along the antimeridian. */
  areHolesChecked = false
  /** Undefined until it is determined. */
  hasWholeParallel: boolean | undefined = undefined
  /** How far its geodesics may leave straight lines in longitude and latitude, metres. Undefined until it is determined. */
  deviationMeters: number | undefined = undefined
  /** The area and the work that it took; undefined until it is computed. */
  area: { readonly squareMeters: number; readonly work: number } | undefined = undefined
  readonly #kernel: Kernel
  readonly #freeOne: () => boolean
  #topology: PreparedTopology | undefined
  #distance: PreparedDistance | undefined
  #walls: Walls | undefined
  /** True while an operation uses the index in the kernel, which must not be freed then. */
  #isInUse = false

  /** @param freeOne frees memory in the kernel; returns false if it cannot */
  constructor(geometry: FlatGeometry, kernel: Kernel, freeOne: () => boolean) {
    this.geometry = geometry
    this.#kernel = kernel
    this.#freeOne = freeOne
  }

  get topology(): PreparedTopology {
    this.#topology ??= prepareTopology(this.geometry)
    return this.#topology
  }

  /** The index for distances, or the geometry itself if the kernel has no memory for it. Call `endUse` afterwards. */
  get distance(): PreparedDistance | FlatGeometry {
    this.#isInUse = true
    this.#distance ??= this.#prepare(this.geometry)
    return this.#distance ?? this.geometry
  }

  /** The boundary of its polygons, for geodesic edges. Call `endUse` afterwards. */
  get walls(): Walls {
    this.#isInUse = true
    if (this.#walls === undefined) {
      const { lines, distance } = wallsOf(this.geometry)
      this.#walls = { lines, distance: distance && (this.#prepare(distance) ?? distance) }
    }
    return this.#walls
  }

  /** Returns undefined if the kernel has no memory for it. */
  #prepare(geometry: FlatGeometry): PreparedDistance | undefined {
    let prepared = prepareDistance(this.#kernel, geometry)
    while (prepared === undefined && this.#freeOne()) prepared = prepareDistance(this.#kernel, geometry)
    return prepared
  }

  endUse(): void {
    this.#isInUse = false
  }

  /** Frees the geometry's index in the kernel. @returns false if it has none there, or the index is in use */
  release(): boolean {
    if (this.#isInUse || (this.#distance === undefined && this.#walls === undefined)) return false
    this.#distance?.release()
    this.#distance = undefined
    if (this.#walls?.distance instanceof PreparedDistance) this.#walls.distance.release()
    this.#walls = undefined
    return true
  }

  get byteLength(): number {
    const { vertices, sequenceStarts, partStarts } = this.geometry
    const flat = vertices.byteLength + sequenceStarts.byteLength + partStarts.byteLength
    const walls = this.#walls?.distance
    const indexes = (this.#distance?.byteLength ?? 0) + (walls instanceof PreparedDistance ? walls.byteLength : 0)
    // Lines of walls are copies of the vertices.
    return (this.#topology?.byteLength ?? flat) + indexes + (walls === undefined ? 0 : vertices.byteLength)
  }
}
