/**
 * Finds out whether doubles can decide how geometries lie to each other. JTS computes where edges cross as rounded coordinates.
 * Where two of these places, or one of them and a vertex, are as near to each other as the rounding, it may put them in the wrong
 * order or take them for one, and its matrix may be wrong. Equal vertices do no harm, because nothing is rounded there.
 */

/**
 * In degrees: 0.1 mm. A coordinate has at most 180 degrees, and half of a unit in its last place is 1.4·10⁻¹⁴. Edges that cross at
 * an angle whose sine is s cross within some ten units divided by s of the rounded place: 3·10⁻¹⁰ for the smallest s below.
 */
const MARGIN = 1e-9
const SMALLEST_SINE = 1e-3
/** With more crossings, JTS takes seconds and much memory. */
const MAX_CROSSINGS = 30_000

/** The vertices and edges of both geometries. */
export class Segments {
  readonly #vertices: number[] = []
  readonly #edges: number[] = []

  get vertexCount(): number {
    return this.#vertices.length / 2
  }

  addVertex(lon: number, lat: number): void {
    this.#vertices.push(lon, lat)
  }

  addEdge(lon1: number, lat1: number, lon2: number, lat2: number): void {
    if (lon1 !== lon2 || lat1 !== lat2) this.#edges.push(lon1, lat1, lon2, lat2)
  }

  /** Interleaved coordinates, in order of longitude. */
  sortedVertices(): Float64Array {
    return sortedByFirst(this.#vertices, 2)
  }

  /** Four coordinates an edge, the western end first, in order of its longitude. */
  sortedEdges(): Float64Array {
    const eastward = this.#edges.slice()
    for (let at = 0; at < eastward.length; at += 4) {
      const [lon1, lat1, lon2, lat2] = eastward.slice(at, at + 4) as [number, number, number, number]
      if (lon1 > lon2) eastward.splice(at, 4, lon2, lat2, lon1, lat1)
    }
    return sortedByFirst(eastward, 4)
  }
}

/**
 * Says whether doubles can decide: `no` near a contact.
 *
 * @returns `too-many` if the edges cross in more places than can be compared
 */
export function canDecide(segments: Segments): 'yes' | 'no' | 'too-many' {
  const edges = segments.sortedEdges()
  const vertices = segments.sortedVertices()
  const { crossings, isShallow } = findCrossings(edges)
  if (crossings.length > 2 * MAX_CROSSINGS) return 'too-many'
  // Two vertices that are nearly equal matter too: one of them may be a point without edges.
  const isNear = isShallow || hasNearPair(vertices) || hasVertexNearEdge(vertices, edges)
  return isNear || hasNearPair(sortedByFirst(crossings, 2), true) ? 'no' : 'yes'
}

/** Returns true if two positions are nearly equal. @param countsEqual whether equal ones count */
function hasNearPair(sorted: Float64Array, countsEqual = false): boolean {
  for (let i = 0; i < sorted.length; i += 2) {
    for (let j = i + 2; j < sorted.length && sorted[j]! - sorted[i]! <= MARGIN; j += 2) {
      if (Math.abs(sorted[j + 1]! - sorted[i + 1]!) > MARGIN) continue
      if (countsEqual || sorted[j] !== sorted[i] || sorted[j + 1] !== sorted[i + 1]) return true
    }
  }
  return false
}

function hasVertexNearEdge(vertices: Float64Array, edges: Float64Array): boolean {
  for (let at = 0; at < edges.length; at += 4) {
    const [lon1, lat1, lon2, lat2] = [edges[at]!, edges[at + 1]!, edges[at + 2]!, edges[at + 3]!]
    const [south, north] = [Math.min(lat1, lat2) - MARGIN, Math.max(lat1, lat2) + MARGIN]
    for (let v = firstAtLeast(vertices, lon1 - MARGIN); v < vertices.length && vertices[v]! <= lon2 + MARGIN; v += 2) {
      const [lon, lat] = [vertices[v]!, vertices[v + 1]!]
      if (lat < south || lat > north) continue
      if ((lon === lon1 && lat === lat1) || (lon === lon2 && lat === lat2)) continue
      // Ends that are nearly equal were found before, so only the distance from the line counts.
      const cross = (lon2 - lon1) * (lat - lat1) - (lat2 - lat1) * (lon - lon1)
      if (Math.abs(cross) <= MARGIN * Math.hypot(lon2 - lon1, lat2 - lat1)) return true
    }
  }
  return false
}

/** Returns the places where edges cross, and whether two cross at too small an angle. Stops after too many places. */
function findCrossings(edges: Float64Array): { readonly crossings: readonly number[]; readonly isShallow: boolean } {
  const crossings: number[] = []
  let isShallow = false
  for (let i = 0; i < edges.length; i += 4) {
    const [x1, y1, x2, y2] = [edges[i]!, edges[i + 1]!, edges[i + 2]!, edges[i + 3]!]
    const [dx, dy] = [x2 - x1, y2 - y1]
    const [south, north] = [Math.min(y1, y2), Math.max(y1, y2)]
    for (let j = i + 4; j < edges.length && edges[j]! <= x2; j += 4) {
      const [u1, v1, u2, v2] = [edges[j]!, edges[j + 1]!, edges[j + 2]!, edges[j + 3]!]
      if (Math.max(v1, v2) < south || Math.min(v1, v2) > north) continue
      const [du, dv] = [u2 - u1, v2 - v1]
      const start = dx * (v1 - y1) - dy * (u1 - x1)
      const end = dx * (v2 - y1) - dy * (u2 - x1)
      const first = du * (y1 - v1) - dv * (x1 - u1)
      const second = du * (y2 - v1) - dv * (x2 - u1)
      if (start * end >= 0 || first * second >= 0) continue
      const cross = dx * dv - dy * du
      isShallow ||= Math.abs(cross) < SMALLEST_SINE * Math.hypot(dx, dy) * Math.hypot(du, dv)
      const share = first / (first - second)
      crossings.push(x1 + share * dx, y1 + share * dy)
      if (crossings.length > 2 * MAX_CROSSINGS) return { crossings, isShallow }
    }
  }
  return { crossings, isShallow }
}

/** Returns the index of the first pair whose first number is at least `limit`. */
function firstAtLeast(sorted: Float64Array, limit: number): number {
  let [low, high] = [0, sorted.length / 2]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (sorted[2 * middle]! < limit) low = middle + 1
    else high = middle
  }
  return 2 * low
}

/** Sorts groups of numbers by the first of each. */
function sortedByFirst(numbers: readonly number[], size: number): Float64Array {
  const order = Array.from({ length: numbers.length / size }, (_, index) => index * size)
  order.sort((a, b) => numbers[a]! - numbers[b]!)
  return Float64Array.from(order.flatMap((at) => numbers.slice(at, at + size)))
}
