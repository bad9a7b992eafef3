import type { Kernel } from '../wasm/loader.ts'

/** Returns the azimuth of a direction in degrees clockwise from north, in [0, 360). */
export function azimuthDegrees(kernel: Kernel, sine: number, cosine: number): number {
  const degrees = kernel.degreesOf(sine, cosine)
  if (degrees >= 0) return degrees + 0 // no −0
  // A tiny negative angle would round to 360.
  return degrees + 360 < 360 ? degrees + 360 : 0
}
