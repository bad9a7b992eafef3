import { type Kernel, loadKernel } from '../wasm/loader.ts'

/**
 * Returns which pole a ring that winds around the axis encloses: 1 north, −1 south. The kernel decides this together with the
 * area of the ring (decision 92). Code that needs the answer gets this function as a parameter.
 *
 * @param ring interleaved lon, lat in degrees, closed, as received
 */
export type PoleResolver = (ring: Float64Array) => 1 | -1

/**
 * Returns the pole that a ring encloses: 1 north, −1 south, 0 neither. The area of the ring rests on the same decision.
 *
 * @param ring interleaved lon, lat, closed, with geodesic edges only
 */
export function enclosedPole(kernel: Kernel, ring: Float64Array): -1 | 0 | 1 {
  kernel.release()
  kernel.ringArea(kernel.write(ring), ring.length / 2)
  return kernel.enclosedPole() as -1 | 0 | 1
}

/**
 * Returns a resolver for threads that compute nothing else. It loads the kernel for the first ring, because few records have a
 * ring around the axis.
 */
export function createPoleResolver(): PoleResolver {
  let kernel: Kernel | undefined
  return (ring) => {
    kernel ??= loadKernel()
    return enclosedPole(kernel, ring) < 0 ? -1 : 1
  }
}
