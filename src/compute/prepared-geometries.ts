import { type PreparedDistance, prepareDistance, setPreparedRoom } from '../geodesy/prepared-distance.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { Hex } from '../messages.ts'
import { type PreparedTopology, prepareTopology } from '../topology/prepared.ts'
import type { Kernel } from '../wasm/loader.ts'

/** Below it, making a lookup costs more than every question it could answer. */
const MIN_VERTICES = 64
/** References met once that are remembered. */
const MAX_SEEN = 4096

/**
 * Geometries that come again and again, with what was found out about them: callers ask about many points and one polygon.
 *
 * A geometry is kept when it is met the second time, under the hash of its canonical text; the least recently used go when
 * there are too many bytes. Answers are the same with and without. For one thread.
 */
export class PreparedGeometries {
  readonly #kernel: Kernel
  readonly #maxBytes: number
  /** Least recently used first. */
  readonly #entries = new Map<Hex, PreparedGeometry>()
  readonly #seen = new Set<Hex>()

  /**
   * @param kernel whose memory holds what distances look things up in; of one kernel there can be one of these
   * @param kernelBytes room for that
   */
  constructor(kernel: Kernel, maxBytes: number, kernelBytes = maxBytes) {
    setPreparedRoom(kernel, kernelBytes)
    this.#kernel = kernel
    this.#maxBytes = maxBytes
  }

  get size(): number {
    return this.#entries.size
  }

  /** Bytes kept now. */
  get byteLength(): number {
    let bytes = 0
    for (const entry of this.#entries.values()) bytes += entry.byteLength
    return bytes
  }

  /**
   * @param ref the hash of the geometry's own text, which tells geometries apart
   * @returns undefined for one that is small or met the first time
   */
  find(ref: Hex, geometry: FlatGeometry): PreparedGeometry | undefined {
    if (geometry.vertices.length < 2 * MIN_VERTICES) return undefined
    const known = this.#entries.get(ref)
    if (known !== undefined) {
      // To the end of the line.
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

  /** @param ref as for `find` */
  keeps(ref: Hex, geometry: FlatGeometry): boolean {
    return this.#entries.get(ref)?.geometry === geometry
  }

  /** Lets go what is too much: to be called after each operation, which may have made lookups. */
  trim(): void {
    let bytes = this.byteLength
    for (const [ref, entry] of this.#entries) {
      if (bytes <= this.#maxBytes) return
      bytes -= entry.byteLength
      this.#entries.delete(ref)
      entry.release()
    }
  }

  /** Frees some of the kernel's memory: what was used least recently. @returns false when there is nothing to free */
  #freeOne(): boolean {
    for (const entry of this.#entries.values()) if (entry.release()) return true
    return false
  }
}

/** One of them. What is asked for is made at the first question and kept. */
export class PreparedGeometry {
  readonly geometry: FlatGeometry
  /** True once its polygons were found valid with straight edges. */
  isValid = false
  /** True once they were found valid with geodesic edges too. */
  isValidGeodesic = false
  /** True once no hole with edges along the antimeridian was found. */
  isSeamChecked = false
  /** Once it was looked for. */
  hasWholeParallel: boolean | undefined = undefined
  /** Once it was computed. */
  areaSquareMeters: number | undefined = undefined
  readonly #kernel: Kernel
  readonly #freeOne: () => boolean
  #topology: PreparedTopology | undefined
  #distance: PreparedDistance | undefined
  /** True while a question is asked about it: what lies in the kernel must stay. */
  #isInUse = false

  /** @param freeOne makes room in the kernel; false when it cannot */
  constructor(geometry: FlatGeometry, kernel: Kernel, freeOne: () => boolean) {
    this.geometry = geometry
    this.#kernel = kernel
    this.#freeOne = freeOne
  }

  get topology(): PreparedTopology {
    this.#topology ??= prepareTopology(this.geometry)
    return this.#topology
  }

  /** For distances; the geometry itself when the kernel has no room for it. To be followed by `endUse`. */
  get distance(): PreparedDistance | FlatGeometry {
    this.#isInUse = true
    this.#distance ??= prepareDistance(this.#kernel, this.geometry)
    while (this.#distance === undefined && this.#freeOne()) {
      this.#distance = prepareDistance(this.#kernel, this.geometry)
    }
    return this.#distance ?? this.geometry
  }

  endUse(): void {
    this.#isInUse = false
  }

  /** Gives back what it has in the kernel. @returns false when that is nothing, or in use */
  release(): boolean {
    if (this.#distance === undefined || this.#isInUse) return false
    this.#distance.release()
    this.#distance = undefined
    return true
  }

  get byteLength(): number {
    const { vertices, sequenceStarts, partStarts } = this.geometry
    const flat = vertices.byteLength + sequenceStarts.byteLength + partStarts.byteLength
    return (this.#topology?.byteLength ?? flat) + (this.#distance?.byteLength ?? 0)
  }
}
