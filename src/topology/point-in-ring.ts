import type { FlatGeometry } from '../geometry/flat.ts'
import type { Kernel } from '../wasm/loader.ts'
import { orientation } from './orientation.ts'

/** Where a position lies to an area: its DE-9IM part. */
export type Location = 'interior' | 'boundary' | 'exterior'

/** Vertices from which handing them to the kernel pays. */
const MIN_KERNEL_VERTICES = 48

/** Answers of the kernel's `sideOfRing`. */
const KERNEL_INSIDE = 1
const KERNEL_ON_RING = 2
const KERNEL_UNDECIDED = 3
const KERNEL_IS_CLEAR = 4

/**
 * Side of a position to one ring in the plane: 1 inside, 0 on the ring, −1 outside. One pass, exact.
 *
 * @param vertices interleaved lon, lat
 * @param start index of the ring's first vertex
 * @param end index after its last vertex, which equals the first
 */
export function sideOfRing(vertices: Float64Array, start: number, end: number, lon: number, lat: number): number {
  let isInside = false
  const last = 2 * end - 1
  for (let i = 2 * start + 1; i < last; i += 2) {
    // Runs of vertices on one side of the parallel, four at a time.
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

/** Where a position lies to the rings of one Polygon or MultiPolygon, and what the pass over them showed besides. */
export interface RingPass {
  location: Location
  /** The rings keep clear of ±180 and the poles and span less than 180 degrees; false also when nobody looked. */
  isClear: boolean
}

/**
 * One pass over all rings of a Polygon or MultiPolygon, exact with the kernel and without.
 *
 * @param kernel looks at large geometries; vertices that stand in its memory are not copied
 */
export function passRings(geometry: FlatGeometry, lon: number, lat: number, kernel?: Kernel): RingPass {
  const { vertices, sequenceStarts } = geometry
  if (kernel === undefined || vertices.length < 2 * MIN_KERNEL_VERTICES) {
    let isInside = false
    for (let sequence = 0; sequence < sequenceStarts.length - 1; sequence++) {
      const side = sideOfRing(vertices, sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!, lon, lat)
      if (side === 0) return { location: 'boundary', isClear: false }
      if (side > 0) isInside = !isInside
    }
    return { location: isInside ? 'interior' : 'exterior', isClear: false }
  }
  const isThere = vertices.buffer === kernel.memory.buffer
  const mark = kernel.mark()
  const pointer = isThere ? vertices.byteOffset : kernel.write(vertices)
  let isInside = false
  let isOnRing = false
  let isClear = true
  for (let sequence = 0; sequence < sequenceStarts.length - 1 && !isOnRing; sequence++) {
    const start = sequenceStarts[sequence]!
    const end = sequenceStarts[sequence + 1]!
    const answer = kernel.sideOfRing(pointer + 16 * start, end - start, lon, lat)
    if ((answer & KERNEL_IS_CLEAR) === 0) isClear = false
    const side = answer & 3
    if (side === KERNEL_INSIDE) isInside = !isInside
    else if (side === KERNEL_ON_RING) isOnRing = true
    else if (side === KERNEL_UNDECIDED) {
      const exact = sideOfRing(vertices, start, end, lon, lat)
      if (exact === 0) isOnRing = true
      else if (exact > 0) isInside = !isInside
    }
  }
  if (!isThere) kernel.releaseTo(mark)
  return { location: isOnRing ? 'boundary' : isInside ? 'interior' : 'exterior', isClear: isClear && !isOnRing }
}

/** Whether a position lies on the segment between two others. */
export function isOnSegment(x1: number, y1: number, x2: number, y2: number, lon: number, lat: number): boolean {
  if (lon < Math.min(x1, x2) || lon > Math.max(x1, x2) || lat < Math.min(y1, y2) || lat > Math.max(y1, y2)) return false
  return orientation(x1, y1, x2, y2, lon, lat) === 0
}
