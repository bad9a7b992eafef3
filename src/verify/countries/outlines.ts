import data from './outlines.json' with { type: 'json' }

/** The outline of a country, or of the areas that ISO 3166-1 assigns to no country. */
export interface Outline {
  /**
   * Interleaved lon, lat in degrees; longitudes continue past ±180 at the antimeridian. Rings are closed; some are
   * holes.
   */
  readonly vertices: Float64Array
  /** x, y, z of each vertex on the unit sphere. */
  readonly unitVectors: Float64Array
  /** Index of each ring's first vertex, and one past the last. */
  readonly ringStarts: readonly number[]
  readonly west: number
  readonly east: number
  readonly south: number
  readonly north: number
}

let outlines: ReadonlyMap<string, Outline> | undefined

/**
 * Returns the outlines by ISO 3166-1 alpha-2 code; the key '' holds areas without a code. The first call unpacks them,
 * which takes 0.1 s.
 *
 * @see scripts/build-countries.mjs
 */
export function countryOutlines(): ReadonlyMap<string, Outline> {
  if (outlines === undefined) {
    const arcs = unpackArcs()
    outlines = new Map(Object.entries(data.rings).map(([code, rings]) => [code, buildOutline(rings, arcs)]))
  }
  return outlines
}

/** @returns positions of each arc, interleaved lon, lat in degrees */
function unpackArcs(): Float64Array[] {
  const bytes = Buffer.from(data.arcs, 'base64')
  const [scaleX, scaleY] = data.scale as [number, number]
  const [westmost, southmost] = data.translate as [number, number]
  let offset = 0
  const next = (): number => {
    let value = 0
    let factor = 1
    let byte: number
    do {
      byte = bytes[offset++]!
      value += (byte & 127) * factor
      factor *= 128
    } while (byte > 127)
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2
  }
  return data.arcLengths.map((length) => {
    const positions = new Float64Array(2 * length)
    let x = 0
    let y = 0
    for (let i = 0; i < 2 * length; i += 2) {
      x += next()
      y += next()
      positions[i] = x * scaleX + westmost
      positions[i + 1] = y * scaleY + southmost
    }
    return positions
  })
}

function buildOutline(rings: readonly (readonly number[])[], arcs: readonly Float64Array[]): Outline {
  const parts = rings.map((ring) => joinArcs(ring, arcs))
  const ringStarts = [0]
  for (const part of parts) ringStarts.push(ringStarts.at(-1)! + part.length / 2)
  const vertices = new Float64Array(2 * ringStarts.at(-1)!)
  for (const [index, part] of parts.entries()) vertices.set(part, 2 * ringStarts[index]!)
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  for (let i = 0; i < vertices.length; i += 2) {
    west = Math.min(west, vertices[i]!)
    east = Math.max(east, vertices[i]!)
    south = Math.min(south, vertices[i + 1]!)
    north = Math.max(north, vertices[i + 1]!)
  }
  return { vertices, unitVectors: toUnitVectors(vertices), ringStarts, west, east, south, north }
}

/** @returns x, y, z on the unit sphere of each position */
export function toUnitVectors(positions: ArrayLike<number>): Float64Array {
  const units = new Float64Array((positions.length / 2) * 3)
  for (let i = 0; i < positions.length / 2; i++) {
    const lon = (positions[2 * i]! * Math.PI) / 180
    const lat = (positions[2 * i + 1]! * Math.PI) / 180
    const radius = Math.cos(lat)
    units[3 * i] = radius * Math.cos(lon)
    units[3 * i + 1] = radius * Math.sin(lon)
    units[3 * i + 2] = Math.sin(lat)
  }
  return units
}

/**
 * Joins the arcs of a ring; neighbours share their ends. A negative index i means arc ~i in reverse, as in TopoJSON.
 */
function joinArcs(ring: readonly number[], arcs: readonly Float64Array[]): number[] {
  const positions: number[] = []
  for (const index of ring) {
    const arc = arcs[index < 0 ? ~index : index]!
    const count = arc.length / 2
    for (let step = positions.length === 0 ? 0 : 1; step < count; step++) {
      const at = 2 * (index < 0 ? count - 1 - step : step)
      positions.push(unwrapLongitude(arc[at]!, positions.at(-2)), arc[at + 1]!)
    }
  }
  const lonDifference = positions.at(-2)! - positions[0]!
  // Only Antarctica runs around the globe. In the plane it is closed along the pole.
  if (Math.abs(lonDifference) > 180)
    positions.push(positions.at(-2)!, -90, positions[0]!, -90, positions[0]!, positions[1]!)
  return positions
}

/**
 * Returns the longitude, shifted by whole turns to be near the previous one, so that no edge jumps at the antimeridian.
 */
function unwrapLongitude(lon: number, previous: number | undefined): number {
  return previous === undefined ? lon : lon + 360 * Math.round((previous - lon) / 360)
}
