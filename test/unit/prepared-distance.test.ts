import { describe, expect, it } from 'vitest'
import { WorkLimitError } from '../../src/base/work.ts'
import { distanceMeters, isWithinCentimeters } from '../../src/geodesy/distance.ts'
import { BlockList, prepareDistance, reservePreparedMemory } from '../../src/geodesy/prepared-distance.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'

const flat = (geometry: Geometry) => readGeometry(geometry, [], { maxVertices: 50_000, maxParts: 10_000 })
const point = (lon: number, lat: number) => flat({ type: 'Point', coordinates: [lon, lat] })
const disc = (count: number, radius: number) => {
  const ring = Array.from({ length: count }, (_, i): Position => {
    const angle = (2 * Math.PI * i) / count
    return [10 + radius * Math.cos(angle), 45 + radius * Math.sin(angle)]
  })
  return flat({ type: 'Polygon', coordinates: [[...ring, ring[0]!]] })
}

describe('preparing a geometry', () => {
  it('survives every other use of the arena', () => {
    const kernel = loadKernel()
    const polygon = disc(3000, 1)
    const expected = distanceMeters(kernel, polygon, point(12, 45), 1e6)
    const prepared = prepareDistance(kernel, polygon)!
    for (const size of [10, 5000, 40_000]) {
      // Overwrites the whole arena; the largest size makes the memory grow.
      distanceMeters(kernel, disc(size, 2), disc(size, 0.5), 1e6)
      kernel.write(new Float64Array(100_000).fill(Number.NaN))
      expect(distanceMeters(kernel, prepared, point(12, 45), 1e6)).toBe(expected)
    }
  })

  it('returns undefined without room, and succeeds again after another geometry is released', () => {
    const kernel = loadKernel()
    reservePreparedMemory(kernel, 1 << 20)
    const polygon = disc(4000, 1)
    const first = prepareDistance(kernel, polygon)!
    expect(first.byteLength).toBeGreaterThan(4000 * 16)
    expect(prepareDistance(kernel, disc(20_000, 1))).toBeUndefined()
    const others = []
    for (let next = prepareDistance(kernel, polygon); next !== undefined; next = prepareDistance(kernel, polygon)) {
      others.push(next)
    }
    expect(others.length).toBe(Math.floor((1 << 20) / first.byteLength) - 1)
    first.release()
    first.release()
    const again = prepareDistance(kernel, polygon)!
    expect(distanceMeters(kernel, again, point(12, 45), 1e6)).toBe(distanceMeters(kernel, polygon, point(12, 45), 1e6))
    for (const other of others) {
      expect(distanceMeters(kernel, other, again, 1e6)).toBe(0)
      other.release()
    }
  })

  it('throws for a released geometry and for one of another kernel', () => {
    const kernel = loadKernel()
    const prepared = prepareDistance(kernel, point(1, 2))!
    expect(() => distanceMeters(loadKernel(), prepared, point(1, 2), 10)).toThrow('another kernel')
    prepared.release()
    expect(() => distanceMeters(kernel, prepared, point(1, 2), 10)).toThrow('was released')
  })

  it('reserves memory only once', () => {
    const kernel = loadKernel()
    prepareDistance(kernel, point(1, 2))
    expect(() => reservePreparedMemory(kernel, 1 << 20)).toThrow('has already reserved memory')
    expect(() => reservePreparedMemory(loadKernel(), 2 ** 30)).toThrow('out of memory')
  })

  it('finds the distance of a point to a polygon of 10,000 vertices in a few steps', () => {
    const kernel = loadKernel()
    const prepared = prepareDistance(kernel, disc(10_000, 1))!
    for (const from of [point(10, 45), point(10.9, 45.1), point(12, 45), point(14, 40)]) {
      distanceMeters(kernel, prepared, from, 1e6)
      expect(kernel.workDone()).toBeLessThan(60)
    }
  })
})

describe('within a radius', () => {
  it('decides from bounds without solving a geodesic where possible', () => {
    const kernel = loadKernel()
    const prepared = prepareDistance(kernel, disc(10_000, 1))!
    // The distance is 79 km from the polygon and 135 km from its vertices.
    for (const [radiusCm, expected] of [
      [100_000_00n, true],
      [50_000_00n, false],
      [1n, false],
      [0n, false],
    ] as const) {
      expect(isWithinCentimeters(kernel, prepared, point(12, 45), radiusCm, 5)).toBe(expected)
      expect(kernel.workDone()).toBeLessThan(5)
    }
    expect(isWithinCentimeters(kernel, prepared, point(10, 45), 0n, 5)).toBe(true)
    expect(isWithinCentimeters(kernel, prepared, point(-170, -45), 2_000_400_000n, 0)).toBe(true)
  })

  it('throws when the work limit is reached', () => {
    const kernel = loadKernel()
    const ring = (radius: number): Geometry => ({
      type: 'LineString',
      coordinates: Array.from({ length: 5000 }, (_, i): Position => {
        return [10 + radius * Math.cos(i / 500), 45 + radius * Math.sin(i / 500)]
      }),
    })
    expect(() => isWithinCentimeters(kernel, flat(ring(1)), flat(ring(1.00001)), 10n, 3)).toThrow(WorkLimitError)
  })
})

describe('a block list', () => {
  it('allocates in units of 16 bytes, and returns undefined when no block fits', () => {
    const blocks = new BlockList(160, 64)
    expect([blocks.allocate(1), blocks.allocate(17), blocks.allocate(17), blocks.allocate(16)]).toEqual([
      160,
      176,
      undefined,
      208,
    ])
    expect(blocks.allocate(1)).toBeUndefined()
  })

  it('merges a freed block with free neighbours on both sides', () => {
    for (const order of [
      [0, 1, 2, 3],
      [3, 2, 1, 0],
      [0, 2, 1, 3],
      [1, 3, 0, 2],
      [2, 0, 3, 1],
    ]) {
      const blocks = new BlockList(16, 128)
      const pointers = Array.from({ length: 4 }, () => blocks.allocate(32)!)
      for (const index of order) blocks.free(pointers[index]!, 32)
      expect(blocks.allocate(128)).toBe(16)
    }
  })
})
