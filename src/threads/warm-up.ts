import type { ComputeTask } from '../wire/compute-messages.ts'

type Ring = readonly (readonly [lon: number, lat: number])[]

/** Vertices of each ring: enough for the engine to compile what the most costly requests run. */
const VERTICES = 4000

/**
 * Returns the requests that a thread for large work computes once after its start, so that its code is compiled before a client sends
 * a costly request. They run the code that took longest when it was new: rings around a pole, and edges whose boxes all overlap.
 */
export function warmUpTasks(chainId: number): ComputeTask[] {
  const polygon = (ring: Ring) => ({ type: 'Polygon', coordinates: [[...ring, ring[0]]] })
  const task = (operation: ComputeTask['operation'], request: object): ComputeTask => ({
    operation,
    body: Buffer.from(JSON.stringify({ chainId, ...request })),
    resolved: [],
    timestampSeconds: 0,
  })
  return [
    task('distance', { from: polygon(polarCap(80, 2)), to: polygon(polarCap(-80, -2)) }),
    task('intersects', { geometry1: polygon(slantingComb(1)), geometry2: polygon(slantingComb(-1)) }),
  ]
}

/** A ring around a pole whose latitude changes at every vertex. */
function polarCap(lat: number, swing: number): Ring {
  return Array.from({ length: VERTICES }, (_, i) => [(360 * i) / VERTICES - 180, lat + swing * (i % 2)] as const)
}

/** A comb of long teeth, turned by 45°. The combs of both sides interlock without touching. */
function slantingComb(side: 1 | -1): Ring {
  const teeth = VERTICES / 4
  const pitch = 10 / teeth
  const upright = Array.from({ length: teeth }, (_, i) => {
    const y = i * pitch + (side > 0 ? pitch / 2 : 0)
    return [
      [side * 10, y],
      [-side * 9, y + 0.05 * pitch],
      [-side * 9, y + 0.2 * pitch],
      [side * 10, y + 0.25 * pitch],
    ] as const
  })
  const back = [[side * 11, 10] as const, [side * 11, 0] as const]
  return [...upright.flat(), ...back].map(([x, y]) => [3 * (x + y), 3 * (y - x)] as const)
}
