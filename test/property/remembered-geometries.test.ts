import { expect, it } from 'vitest'
import { ProblemError } from '../../src/base/problem.ts'
import { OPERATIONS } from '../../src/compute/operations.ts'
import { PreparedGeometries } from '../../src/compute/prepared-geometries.ts'
import { type ComputeContext, runOperation } from '../../src/compute/run.ts'
import { createKeccak } from '../../src/crypto/keccak.ts'
import type { Geometry, Position } from '../../src/types/generated.ts'
import { loadKernel } from '../../src/wasm/loader.ts'
import { seededRandom } from '../random-geometry.ts'
import { scaled } from '../scale.ts'

const limits = { maxVertices: 50_000, maxParts: 10_000, maxWork: 1_000_000 }
const RUNS = scaled(60)
const MAX_BYTES = 400_000

const random = seededRandom(7)
const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!

/** A star-shaped ring around a centre, sometimes self-crossing. Radii are multiples of 1/4 degree, so that positions recur. */
function star(centre: Position, corners: number): Position[] {
  const isSelfCrossing = random() < 0.1
  const ring = Array.from({ length: corners }, (_, i): Position => {
    const angle = (2 * Math.PI * (isSelfCrossing ? random() * corners : i)) / corners
    const radius = 2 + Math.round(8 * random()) / 4
    return [centre[0] + radius * Math.cos(angle), centre[1] + radius * Math.sin(angle)]
  })
  return [...ring, ring[0]!]
}

const CENTRES: readonly Position[] = [
  [10, 45],
  [12, 46],
  [178.5, -20],
  [-179, -19],
  [0, 87],
]

function geometry(): Geometry {
  const centre = pick(CENTRES)
  const corners = 70 + Math.floor(random() * 300)
  switch (Math.floor(random() * 5)) {
    case 0:
      return { type: 'Point', coordinates: [centre[0] + random(), centre[1] + random()] }
    case 1:
      return { type: 'LineString', coordinates: wrapLongitudes(star(centre, corners)) }
    case 2:
      return { type: 'MultiPoint', coordinates: wrapLongitudes(star(centre, corners)) }
    default:
      return { type: 'Polygon', coordinates: [wrapLongitudes(star(centre, corners))] }
  }
}

function wrapLongitudes(ring: Position[]): Position[] {
  return ring.map(([lon, lat]) => [((lon + 540) % 360) - 180, Math.min(90, lat)])
}

it('gives the same result for a cached geometry as for a new one, and stays within its limit of bytes', async () => {
  const keccak = await createKeccak()
  const kernel = loadKernel()
  // The kernel's share is smaller than the cache, so some cached geometries have no copy in the kernel's memory.
  const prepared = new PreparedGeometries(kernel, MAX_BYTES, MAX_BYTES / 4)
  const contextWithoutCache: ComputeContext = { kernel: loadKernel(), keccak, limits }
  const contextWithCache: ComputeContext = { kernel, keccak, limits, prepared }
  // Few geometries and many operations, so most geometries recur, with other operands and in other operations.
  const pool = Array.from({ length: 24 }, geometry)
  let maxCached = 0
  for (let run = 0; run < RUNS * 15; run++) {
    const row = pick(Object.values(OPERATIONS))
    const operands = row.inputs.map((name) => ({ geometry: pick(pool), path: [name], ref: undefined }))
    const radiusMeters = row.name === 'within' ? 10 ** (2 + 5 * random()) : undefined
    const answer = (engine: ComputeContext) => {
      try {
        return runOperation(row, operands, { radiusMeters }, engine)
      } catch (error) {
        if (error instanceof ProblemError) return error.data
        throw error
      }
    }
    expect(answer(contextWithCache)).toEqual(answer(contextWithoutCache))
    expect(prepared.byteLength).toBeLessThanOrEqual(MAX_BYTES)
    maxCached = Math.max(maxCached, prepared.size)
  }
  expect(maxCached).toBeGreaterThan(5)
})

it('caches no geometry that occurs once, no small one, and none under a reference that is not its hash', async () => {
  const kernel = loadKernel()
  const prepared = new PreparedGeometries(kernel, MAX_BYTES)
  const engine: ComputeContext = { kernel, keccak: await createKeccak(), limits, prepared }
  const area = (polygon: Geometry, ref?: `0x${string}`) =>
    runOperation(OPERATIONS.area, [{ geometry: polygon, path: ['geometry'], ref }], {}, engine)
  const circle = (corners: number, radius: number): Geometry => ({
    type: 'Polygon',
    coordinates: [
      Array.from({ length: corners + 1 }, (_, i): Position => {
        const angle = (2 * Math.PI * (i % corners)) / corners
        return [radius * Math.cos(angle), radius * Math.sin(angle)]
      }),
    ],
  })
  for (let radius = 1; radius < 40; radius++) area(circle(100, radius / 10))
  for (let repeat = 0; repeat < 3; repeat++) area(circle(20, 1))
  for (let repeat = 0; repeat < 3; repeat++) area(circle(100, 5), `0x${'11'.repeat(32)}`)
  expect(prepared.size).toBe(0)
  area(circle(100, 1))
  expect(prepared.size).toBe(1)
})
