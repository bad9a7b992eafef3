import { describe, expect, it } from 'vitest'
import type { ComputeTask } from '../../src/messages.ts'
import { runComputeTask } from '../../workers/compute-task.ts'
import { createEngine } from '../../workers/engine.ts'

const limits = {
  maxVertices: 20_000,
  maxParts: 100,
  maxCollectionDepth: 8,
  maxJsonDepth: 32,
  maxDistanceSolves: 200_000,
  maxPreparedBytes: 64 * 1_048_576,
  chainIds: [84532],
}
const VERTICES = 2000

/** A ring whose coordinates take 32 KB: more than what is left to the collector. */
function disc(lon: number, radius: number) {
  const ring = Array.from({ length: VERTICES }, (_, index) => {
    const angle = (2 * Math.PI * index) / VERTICES
    return [lon + radius * Math.cos(angle), 10 + radius * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

function taskOf(operation: ComputeTask['operation'], inputs: object): ComputeTask {
  const body = Buffer.from(JSON.stringify({ chainId: 84532, ...inputs }))
  return { operation, body, resolved: [], timestampSeconds: 1_700_000_000 }
}

const [small, wide, far] = [disc(5, 0.5), disc(5, 1), disc(9, 1)]
const TASKS = [
  taskOf('area', { geometry: small }),
  taskOf('contains', { container: wide, containee: small }),
  taskOf('area', { geometry: small }),
  taskOf('intersects', { geometry1: wide, geometry2: wide }),
  taskOf('distance', { from: small, to: far }),
  taskOf('distance', { from: far, to: far }),
  taskOf('within', { geometry: far, target: wide, radius: 200_000 }),
  taskOf('area', { geometry: far }),
]

describe('a thread that gives the memory of large geometries back', () => {
  // Kept the second time, looked up the third; with room for none of them, and with each looked at anew.
  it.each([64 * 1_048_576, 0])('answers as one that has met nothing, with %i bytes to keep', (maxPreparedBytes) => {
    const engine = createEngine({ ...limits, maxPreparedBytes })
    for (let round = 0; round < 4; round++) {
      for (const task of TASKS) {
        const { prepared: _, ...fresh } = createEngine(limits)
        const wanted = runComputeTask(task, fresh, limits, { canScan: false })
        expect(wanted.ok).toBe(true)
        expect(runComputeTask(task, engine, limits)).toEqual(wanted)
      }
    }
  })
})
