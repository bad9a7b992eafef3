import type { FlatGeometry } from '../geometry/flat.ts'
import type { Scene } from './scene.ts'

/**
 * The boundary of all lines of a geometry by the mod-2 rule: positions at which an odd number of lines end. Closed lines and
 * lines of no length have none.
 *
 * @see OGC 06-103r4, 6.1.8 and 6.1.15
 */
export class LineBoundary {
  readonly #ends = new Set<string>()

  /** @param planar false: 180 and −180 are one longitude, and all longitudes at a pole */
  constructor({ vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry, planar: boolean) {
    const toggle = (vertex: number): void => {
      const lon = vertices[2 * vertex]!
      const lat = vertices[2 * vertex + 1]!
      const key = planar ? keyOf(lon, lat) : Math.abs(lat) === 90 ? keyOf(0, lat) : keyOf(lon === 180 ? -180 : lon, lat)
      if (!this.#ends.delete(key)) this.#ends.add(key)
    }
    for (let part = 0; part < partDimensions.length; part++) {
      if (partDimensions[part] !== 1) continue
      const sequence = partStarts[part]!
      toggle(sequenceStarts[sequence]!)
      toggle(sequenceStarts[sequence + 1]! - 1)
    }
  }

  has({ positions }: Scene, position: number): boolean {
    return this.hasPlace(positions.lon[position]!, positions.lat[position]!)
  }

  hasPlace(lon: number, lat: number): boolean {
    return this.#ends.has(keyOf(lon, lat))
  }
}

function keyOf(lon: number, lat: number): string {
  // + 0 makes one of the two zeros.
  return `${lon + 0} ${lat + 0}`
}
