import type { FlatGeometry } from '../../geometry/flat.ts'
import type { Kernel } from '../../wasm/loader.ts'
import { orientation } from './exact.ts'

/** Where a position lies relative to an area, in the terms of DE-9IM. */
export type Location = 'interior' | 'boundary' | 'exterior'

/** Smallest number of vertices for which the kernel is faster. */
const MIN_KERNEL_VERTICES = 48

/** Results of the kernel's `sideOfRing`. The last one is a flag. */
const KERNEL_INSIDE = 1
const KERNEL_ON_RING = 2
const KERNEL_UNDECIDED = 3
const KERNEL_IS_PLANAR = 4

/**
 * Tells on which side of one ring a position lies in the plane: 1 inside, 0 on the ring, −1 outside. Exact, in one pass.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function sideOfRing(vertices: Float64Array, start: number, end: number, lon: number, lat: number): number {
  let isInside = false
  const last = 2 * end - 1
  for (let i = 2 * start + 1; i < last; i += 2) {
    // Skips vertices on one side of the parallel, four at a time.
    if (vertices[i]! > lat) {
      while (
        i + 8 <= last &&
        vertices[i + 2]! > lat &&
        vertices[i + 4]! > lat &&
        vertices[i + 6]! > lat &&
        vertices[i + 8]! > lat
      ) {
        i += 8
      }
      while (i < last && vertices[i + 2]! > lat) i += 2
    } else if (vertices[i]! < lat) {
      while (
        i + 8 <= last &&
        vertices[i + 2]! < lat &&
        vertices[i + 4]! < lat &&
        vertices[i + 6]! < lat &&
        vertices[i + 8]! < lat
      ) {
        i += 8
      }
      while (i < last && vertices[i + 2]! < lat) i += 2
    }
    if (i >= last) break
    const x1 = vertices[i - 1]!
    const y1 = vertices[i]!
    const x2 = vertices[i + 1]!
    const y2 = vertices[i + 2]!
    if (y1 > lat !== y2 > lat) {
      if (x1 > lon && x2 > lon) {
        isInside = !isInside
      } else if (x1 >= lon || x2 >= lon) {
        const side = orientation(x1, y1, x2, y2, lon, lat)
        if (side === 0) return 0
        if (side > 0 === y2 > y1) isInside = !isInside
      }
    } else if (y1 === lat && (x1 === lon || (y2 === lat && x1 > lon !== x2 > lon))) {
      return 0
    }
  }
  return isInside ? 1 : -1
}

/** Where a position lies relative to the rings of one Polygon or MultiPolygon, and what else the pass over them showed. */
export interface RingPass {
  location: Location
  /** The rings do not touch ±180 or a pole and span less than 180 degrees. False also when that was not checked. */
  isSurelyPlanar: boolean
}

/**
 * Locates a position in one pass over all rings of a Polygon or MultiPolygon. Exact with the kernel and without.
 *
 * @param kernel processes large geometries; vertices that are already in its memory are not copied
 */
export function passRings(geometry: FlatGeometry, lon: number, lat: number, kernel?: Kernel): RingPass {
  const { vertices, sequenceStarts } = geometry
  if (kernel === undefined || vertices.length < 2 * MIN_KERNEL_VERTICES) {
    let isInside = false
    for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
      const side = sideOfRing(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!, lon, lat)
      if (side === 0) return { location: 'boundary', isSurelyPlanar: false }
      if (side > 0) isInside = !isInside
    }
    return { location: isInside ? 'interior' : 'exterior', isSurelyPlanar: false }
  }
  const isInKernel = vertices.buffer === kernel.memory.buffer
  const mark = kernel.mark()
  const pointer = isInKernel ? vertices.byteOffset : kernel.write(vertices)
  let isInside = false
  let isOnRing = false
  let isSurelyPlanar = true
  for (let sequence = 0; sequence < sequenceStarts.length - 1 && !isOnRing; sequence++) {
    const start = sequenceStarts[sequence]!
    const end = sequenceStarts[sequence + 1]!
    const result = kernel.sideOfRing(pointer + 16 * start, end - start, lon, lat)
    if ((result & KERNEL_IS_PLANAR) === 0) isSurelyPlanar = false
    const side = result & 3
    if (side === KERNEL_INSIDE) isInside = !isInside
    else if (side === KERNEL_ON_RING) isOnRing = true
    else if (side === KERNEL_UNDECIDED) {
      const exact = sideOfRing(vertices, start, end, lon, lat)
      if (exact === 0) isOnRing = true
      else if (exact > 0) isInside = !isInside
    }
  }
  if (!isInKernel) kernel.releaseTo(mark)
  return {
    location: isOnRing ? 'boundary' : isInside ? 'interior' : 'exterior',
    isSurelyPlanar: isSurelyPlanar && !isOnRing,
  }
}

/** Tells whether a position lies on the segment between two others. */
export function isOnSegment(x1: number, y1: number, x2: number, y2: number, lon: number, lat: number): boolean {
  if (lon < Math.min(x1, x2) || lon > Math.max(x1, x2) || lat < Math.min(y1, y2) || lat > Math.max(y1, y2)) return false
  return orientation(x1, y1, x2, y2, lon, lat) === 0
}
