import type { FlatGeometry } from '../geometry/flat.ts'
import { type Band, findRing, ringForm } from '../geometry/whole-parallels.ts'
import type { Kernel } from '../wasm/loader.ts'
import { distanceMeters } from './distance.ts'

/** Tells whether a geometry is a single position. */
export function isSinglePoint({ partDimensions }: FlatGeometry): boolean {
  return partDimensions.length === 1 && partDimensions[0] === 0
}

/**
 * Returns the least distance on WGS 84 from a point to a geometry with polygons that have rings of whole parallels. A parallel is
 * reached along the meridian of the point, which meets it at a right angle; everything else as `distanceMeters` measures it.
 *
 * @param point one position
 * @param geometry has valid polygons, whose rings are ordinary or bands
 * @returns metres, before any rounding
 * @throws {WorkLimitError} as `distanceMeters`
 */
export function distanceToBandsMeters(kernel: Kernel, point: FlatGeometry, geometry: FlatGeometry): number {
  let least = Number.POSITIVE_INFINITY
  const others: number[] = []
  for (let part = 0; part < geometry.partDimensions.length; part++) {
    const isWithoutBand = findRing(geometry, ({ kind }) => kind === 'band', part) === undefined
    if (isWithoutBand) others.push(part)
    else least = Math.min(least, new BandPart(kernel, point, geometry, part).distanceMeters())
  }
  if (others.length === 0 || least === 0) return least
  return Math.min(least, distanceMeters(kernel, point, selectParts(geometry, others)))
}

/** A polygon that has a band as a ring, and a point. */
class BandPart {
  readonly #kernel: Kernel
  readonly #point: FlatGeometry
  readonly #lon: number
  readonly #lat: number
  readonly #geometry: FlatGeometry
  readonly #part: number

  constructor(kernel: Kernel, point: FlatGeometry, geometry: FlatGeometry, part: number) {
    this.#kernel = kernel
    this.#point = point
    this.#lon = point.vertices[0]!
    this.#lat = point.vertices[1]!
    this.#geometry = geometry
    this.#part = part
  }

  /**
   * Returns the distance to the ring that keeps the point out of the polygon, or 0 when the point is inside. Only one hole can
   * contain the point, because holes share no interior.
   */
  distanceMeters(): number {
    const { partStarts } = this.#geometry
    const exterior = partStarts[this.#part]!
    const outside = this.#fromOutside(exterior)
    if (outside > 0) return outside
    for (let hole = exterior + 1; hole < partStarts[this.#part + 1]!; hole++) {
      const inside = this.#fromInside(hole)
      if (inside > 0) return inside
    }
    return 0
  }

  #fromOutside(sequence: number): number {
    const band = this.#readBand(sequence)
    if (band === undefined) return this.#measure(sequence, 2)
    if (this.#lat < band.south) return this.#alongMeridian(band.south)
    return this.#lat > band.north ? this.#alongMeridian(band.north) : 0
  }

  /** Returns the distance from a point inside a ring to that ring; 0 for a point outside. */
  #fromInside(sequence: number): number {
    const band = this.#readBand(sequence)
    if (band === undefined) return this.#measure(sequence, 2) > 0 ? 0 : this.#measure(sequence, 1)
    if (this.#lat < band.south || this.#lat > band.north) return 0
    const parallels = [band.south, band.north].filter((parallel) => Math.abs(parallel) !== 90)
    return Math.min(...parallels.map((parallel) => this.#alongMeridian(parallel)))
  }

  #readBand(sequence: number): Band | undefined {
    const { vertices, sequenceStarts } = this.#geometry
    const form = ringForm(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!)
    return form.kind === 'band' ? form : undefined
  }

  #alongMeridian(lat: number): number {
    return this.#kernel.fastInverse(this.#lat, this.#lon, lat, this.#lon)
  }

  /** Returns the distance to a ring of geodesics, with its interior (dimension 2) or as a line (1). */
  #measure(sequence: number, dimension: 1 | 2): number {
    const { vertices, sequenceStarts } = this.#geometry
    const ring = vertices.subarray(2 * sequenceStarts[sequence]!, 2 * sequenceStarts[sequence + 1]!)
    const type = dimension === 2 ? 'Polygon' : 'LineString'
    const single: FlatGeometry = {
      type,
      vertices: ring,
      sequenceStarts: Uint32Array.of(0, ring.length / 2),
      partStarts: Uint32Array.of(0, 1),
      partDimensions: Uint8Array.of(dimension),
      elementStarts: Uint32Array.of(0, 1),
      elementTypes: [type],
      elementPaths: [[]],
    }
    return distanceMeters(this.#kernel, this.#point, single)
  }
}

/** Returns some parts of a geometry, each as an element. Use the result for distances only. */
function selectParts({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry, parts: readonly number[]) {
  const values: number[] = []
  const sequences = [0]
  const starts = [0]
  for (const part of parts) {
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      for (let i = 2 * sequenceStarts[sequence]!; i < 2 * sequenceStarts[sequence + 1]!; i++) values.push(vertices[i]!)
      sequences.push(values.length / 2)
    }
    starts.push(sequences.length - 1)
  }
  const types = ['Point', 'LineString', 'Polygon'] as const
  return {
    type: 'GeometryCollection',
    vertices: Float64Array.from(values),
    sequenceStarts: Uint32Array.from(sequences),
    partStarts: Uint32Array.from(starts),
    partDimensions: Uint8Array.from(parts, (part) => partDimensions[part]!),
    elementStarts: Uint32Array.from({ length: parts.length + 1 }, (_, i) => i),
    elementTypes: parts.map((part) => types[partDimensions[part]!]!),
    elementPaths: parts.map(() => []),
  } satisfies FlatGeometry
}
