import type { FlatGeometry } from '../../geometry/flat.ts'
import type { SegmentSet } from './segment-set.ts'

/**
 * The boundary of all lines of a geometry by the mod-2 rule: the positions at which an odd number of lines end. Closed lines and
 * lines of zero length have no boundary.
 *
 * @see OGC 06-103r4, 6.1.8 and 6.1.15
 */
export class LineBoundary {
  readonly #ends = new Set<string>()

  /** @param planar false when 180 and −180 are one longitude, and all longitudes at a pole are one point */
  constructor({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry, planar: boolean) {
    const toggle = (vertex: number): void => {
      const lon = vertices[2 * vertex]!
      const lat = vertices[2 * vertex + 1]!
      const key = planar
        ? positionKey(lon, lat)
        : Math.abs(lat) === 90
          ? positionKey(0, lat)
          : positionKey(lon === 180 ? -180 : lon, lat)
      if (!this.#ends.delete(key)) this.#ends.add(key)
    }
    for (let part = 0; part < partDimensions.length; part++) {
      if (partDimensions[part] !== 1) continue
      const sequence = partStarts[part]!
      toggle(sequenceStarts[sequence]!)
      toggle(sequenceStarts[sequence + 1]! - 1)
    }
  }

  /** Number of positions. */
  get size(): number {
    return this.#ends.size
  }

  has({ positions }: SegmentSet, position: number): boolean {
    return this.hasCoordinates(positions.lon[position]!, positions.lat[position]!)
  }

  hasCoordinates(lon: number, lat: number): boolean {
    return this.#ends.has(positionKey(lon, lat))
  }
}

function positionKey(lon: number, lat: number): string {
  // + 0 turns −0 into 0.
  return `${lon + 0} ${lat + 0}`
}
