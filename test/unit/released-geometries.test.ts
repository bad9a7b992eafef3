import { describe, expect, it } from 'vitest'
import { createEngine } from '../../src/compute/engine.ts'
import { runComputeTask } from '../../src/compute/task.ts'
import type { ComputeTask } from '../../src/wire/compute-messages.ts'

const limits = {
  maxVertices: 20_000,
  maxParts: 100,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxWork: 200_000,
  maxPreparedBytes: 64 * 1_048_576,
  chainIds: [84532],
}
const VERTICES = 2000

/**
 * Builds a ring whose coordinates take 32 KB: above the size at which memory is released early instead of left to the garbage
 * collector.
 */
function disc(lon: number, radius: number) {
  const ring = Array.from({ length: VERTICES }, (_, index) => {
    const angle = (2 * Math.PI * index) / VERTICES
    return [lon + radius * Math.cos(angle), 10 + radius * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

function createTask(operation: ComputeTask['operation'], inputs: object): ComputeTask {
  const body = Buffer.from(JSON.stringify({ chainId: 84532, ...inputs }))
  return { operation, body, resolved: [], timestampSeconds: 1_700_000_000 }
}

const [small, wide, far] = [disc(5, 0.5), disc(5, 1), disc(9, 1)]
const TASKS = [
  createTask('area', { geometry: small }),
  createTask('contains', { container: wide, containee: small }),
  createTask('area', { geometry: small }),
  createTask('intersects', { geometry1: wide, geometry2: wide }),
  createTask('distance', { from: small, to: far }),
  createTask('distance', { from: far, to: far }),
  createTask('within', { geometry: far, target: wide, radius: 200_000 }),
  createTask('area', { geometry: far }),
]

describe('a thread that releases the memory of large geometries', () => {
  // A geometry is cached at its second use and looked up at its third. Cases: with room for all of them, and with none, so that
  // each is prepared anew.
  it.each([64 * 1_048_576, 0])(
    'gives the same results as a fresh engine, with %i bytes of cache',
    (maxPreparedBytes) => {
      const engine = createEngine({ ...limits, maxPreparedBytes })
      for (let round = 0; round < 4; round++) {
        for (const task of TASKS) {
          const { prepared: _, ...fresh } = createEngine(limits)
          const expected = runComputeTask(task, fresh, limits, { canScan: false })
          expect(expected.type).toBe('computed')
          expect(runComputeTask(task, engine, limits)).toEqual(expected)
        }
      }
    },
  )
})
