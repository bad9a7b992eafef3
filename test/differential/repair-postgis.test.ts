/** Repair compared with PostGIS, whose ST_MakeValid by structure follows the same rule. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openPostGis, type PostGis } from '../../bench/postgis.ts'
import { ProblemError } from '../../src/base/problem.ts'
import { repairGeometry } from '../../src/compute/repair.ts'
import { readGeometry } from '../../src/geometry/read.ts'
import type { Geometry } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { damaged, type Polygons } from '../damaged-polygons.ts'
import { scaled } from '../scale.ts'
import fc, { SEED } from '../seeded.ts'

const kernel = loadKernel()
const LIMITS = { maxVertices: 50_000, maxParts: 10_000 }
const BATCH = 100
/**
 * Square degrees in which the two results may differ. Both round crossings to doubles, which moves an edge of 100° by 10⁻¹⁴ degrees;
 * PostGIS rounds areas to about 10⁻¹⁶ of themselves.
 */
const BOUND_SQUARE_DEGREES = 1e-9

function repaired(geometry: Geometry): Geometry | undefined {
  try {
    const flat = readGeometry(geometry, [], LIMITS)
    return repairGeometry(kernel, flat, new Set(), [], LIMITS).geometry
  } catch (error) {
    if (error instanceof ProblemError && error.data.type === 'not-repairable') return undefined
    throw error
  }
}

function closed(geometry: Geometry): Polygons {
  return (geometry.coordinates as Polygons).map((rings) => rings.map((ring) => [...ring, ring[0]!]))
}

/** Edges across ±180 mean something else in the plane. */
function isPlanar(polygons: Polygons): boolean {
  const lons = polygons.flat(2).map(([lon]) => lon)
  return Math.max(...lons) - Math.min(...lons) < 180
}

const quote = (geometry: object) => `ST_GeomFromGeoJSON('${JSON.stringify(geometry)}')`

describe('repair and PostGIS', () => {
  let postgis: PostGis | undefined
  beforeAll(async () => {
    postgis = await openPostGis()
  })
  afterAll(async () => {
    await postgis?.close()
  })

  it('give the same area', ({ skip }) => {
    if (postgis === undefined) return skip('no PostGIS on this machine')
    const cases = fc
      .sample(damaged, { numRuns: scaled(2000), seed: SEED })
      .map((geometry) => ({ type: 'MultiPolygon', coordinates: closed(geometry) }) as unknown as Geometry)
      .filter((geometry) => isPlanar(geometry.coordinates as Polygons))
    let compared = 0
    const different: string[] = []
    for (let start = 0; start < cases.length; start += BATCH) {
      const some = cases.slice(start, start + BATCH)
      const rows = some.map((geometry) => {
        const ours = repaired(geometry)
        const theirs = `ST_MakeValid(${quote(geometry)}, 'method=structure')`
        const area = ours === undefined ? `ST_Area(${theirs})` : `ST_Area(ST_SymDifference(${theirs}, ${quote(ours)}))`
        return `SELECT ${area}`
      })
      const areas = postgis.numbers(rows.join(' UNION ALL '))
      expect(areas).toHaveLength(some.length)
      areas.forEach((area, index) => {
        compared++
        if (!(area < BOUND_SQUARE_DEGREES)) different.push(`${area} ${JSON.stringify(some[index])}`)
      })
    }
    expect(different).toEqual([])
    expect(compared).toBeGreaterThan(scaled(2000) / 2)
  })
})
