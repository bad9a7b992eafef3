import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { WorkLimitError } from './distance.ts'

/** a (π/180)² / 8, m: what an edge of w by h degrees leaves its line in the plane by is below this · w (w cos φ + 2h). */
const METERS_PER_SQUARE_DEGREE = 242.9
/** An edge is halved at most this often: what then still bends runs over a pole. */
const MAX_HALVINGS = 16
/** Vertices added to a geometry; with more, pieces may leave their geodesics farther. */
const MAX_ADDED = 50_000
const COARSER = 16
const COARSEST_METERS = 1000

/** A geometry with vertices along its edges. */
export interface Densified {
  readonly geometry: FlatGeometry
  /** By vertex of it, the vertex of the original at which its edge starts. */
  readonly sources: Uint32Array
  /** What edges in the plane may leave the geodesics by, metres. */
  readonly boundMeters: number
}

/**
 * Whether all edges of the polygons are so short that, drawn straight in longitude and latitude, they leave their geodesics by
 * less than a bound. One comparison for most geometries.
 */
export function isNearlyPlanar({ vertices, sequenceStarts }: FlatGeometry, boundMeters: number): boolean {
  let width = 0
  let height = 0
  const sequences = sequenceStarts.length - 1
  for (let sequence = 0; sequence < sequences; sequence++) {
    const end = 2 * sequenceStarts[sequence + 1]!
    let i = 2 * sequenceStarts[sequence]!
    let lon = vertices[i]!
    let lat = vertices[i + 1]!
    for (i += 2; i < end; i += 2) {
      const lon2 = vertices[i]!
      const lat2 = vertices[i + 1]!
      const turn = Math.abs(lon2 - lon)
      const rise = Math.abs(lat2 - lat)
      if (turn > width) width = Math.max(width, turn > 180 ? 360 - turn : turn)
      if (rise > height) height = rise
      lon = lon2
      lat = lat2
    }
  }
  return METERS_PER_SQUARE_DEGREE * width * (width + 2 * height) <= boundMeters
}

/**
 * Puts vertices along the geodesics of long edges, so that the straight lines between them in longitude and latitude leave the
 * geodesics by less than a bound, which grows when that takes too many.
 *
 * @param maxAdded vertices that may be added
 * @returns undefined where that cannot be: edges over a pole or exactly half the globe, from pole to pole, far too many
 * @throws {WorkLimitError} when it takes more than `maxAdded`, and they are fewer than are ever added
 */
export function densify(
  kernel: Kernel,
  geometry: FlatGeometry,
  boundMeters: number,
  maxAdded: number,
): Densified | undefined {
  for (let bound = boundMeters; bound <= COARSEST_METERS; bound *= COARSER) {
    const made = new Densification(kernel, geometry, bound, Math.min(maxAdded, MAX_ADDED)).make()
    if (made === 'too many' && maxAdded < MAX_ADDED)
      throw new WorkLimitError(`more than ${maxAdded} vertices along its edges`)
    if (made !== 'too many') return made
  }
  return undefined
}

class Densification {
  readonly #kernel: Kernel
  readonly #original: FlatGeometry
  readonly #bound: number
  readonly #maxAdded: number
  readonly #vertices: number[] = []
  readonly #sources: number[] = []

  constructor(kernel: Kernel, original: FlatGeometry, bound: number, maxAdded: number) {
    this.#kernel = kernel
    this.#original = original
    this.#bound = bound
    this.#maxAdded = maxAdded
  }

  make(): Densified | undefined | 'too many' {
    const { vertices, sequenceStarts } = this.#original
    const starts = new Uint32Array(sequenceStarts.length)
    for (let sequence = 0; sequence + 1 < starts.length; sequence++) {
      const first = sequenceStarts[sequence]!
      const end = sequenceStarts[sequence + 1]!
      for (let vertex = first; vertex < end; vertex++) {
        const i = 2 * vertex
        this.#put(vertices[i]!, vertices[i + 1]!, vertex - first)
        if (vertex + 1 === end) continue
        if (!this.#addAlong(vertices[i]!, vertices[i + 1]!, vertices[i + 2]!, vertices[i + 3]!, vertex - first)) {
          return undefined
        }
        if (this.#sources.length - vertex > this.#maxAdded) return 'too many'
      }
      starts[sequence + 1] = this.#sources.length
    }
    return {
      geometry: { ...this.#original, vertices: Float64Array.from(this.#vertices), sequenceStarts: starts },
      sources: Uint32Array.from(this.#sources),
      boundMeters: this.#bound,
    }
  }

  #put(lon: number, lat: number, source: number): void {
    this.#vertices.push(lon, lat)
    this.#sources.push(source)
  }

  /** Adds what comes between the ends of an edge. @returns false where that cannot be told */
  #addAlong(lon1: number, lat1: number, lon2: number, lat2: number, source: number): boolean {
    if (!bends(lon1, lat1, lon2, lat2, this.#bound)) return true
    const [isPole1, isPole2] = [Math.abs(lat1) === 90, Math.abs(lat2) === 90]
    if (isPole1 && isPole2) return lat1 === lat2
    // As a geodesic, it is the meridian of its other end: the pole is written under that longitude too.
    if (isPole1) this.#put(lon2, lat1, source)
    else if (isPole2) this.#put(lon1, lat2, source)
    if (isPole1 || isPole2) return true
    if (Math.abs(lon2 - lon1) === 180) return false
    const kernel = this.#kernel
    const s12 = kernel.inverse(lat1, lon1, lat2, lon2)
    const [salp1, calp1] = [kernel.salp1(), kernel.calp1()]
    const halve = (from: number, lonA: number, latA: number, to: number, lonB: number, latB: number): boolean => {
      if (!bends(lonA, latA, lonB, latB, this.#bound)) return true
      if (to - from <= 2 ** -MAX_HALVINGS) return false
      const share = (from + to) / 2
      const lat = kernel.direct(lat1, lon1, salp1, calp1, s12 * share)
      const lon = kernel.arrivalLon()
      if (!halve(from, lonA, latA, share, lon, lat)) return false
      this.#put(lon, lat, source)
      return halve(share, lon, lat, to, lonB, latB)
    }
    return halve(0, lon1, lat1, 1, lon2, lat2)
  }
}

/** Whether the geodesic between two positions may leave their line in the plane by more than a bound. */
function bends(lon1: number, lat1: number, lon2: number, lat2: number, boundMeters: number): boolean {
  const width = turnOf(lon1, lon2)
  // cos φ of the end nearer to the equator, from above.
  const cosine = Math.min(1, (90 - Math.min(Math.abs(lat1), Math.abs(lat2))) / 57)
  return METERS_PER_SQUARE_DEGREE * width * (width * cosine + 2 * Math.abs(lat2 - lat1)) > boundMeters
}

/** Difference of longitude the short way, degrees. */
function turnOf(lon1: number, lon2: number): number {
  const turn = Math.abs(lon2 - lon1)
  return turn > 180 ? 360 - turn : turn
}
