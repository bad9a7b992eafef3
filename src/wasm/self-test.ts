import type { Kernel } from './loader.ts'

/**
 * Lines of C. F. F. Karney's test set for geodesics, one of each kind: lat1, lon2 − lon1, lat2 in degrees, length in metres.
 * The set gives lengths to 10⁻⁷ m.
 */
const LINES: readonly (readonly [kind: string, lat1: number, lat2: number, lon12: number, s12: number])[] = [
  ['random', 36.530042355041, -48.16427077909777, 5.762344694676511, 9398502.0434687],
  ['long', 53.884742776083, 17.414936596574556, 92.3062513355145, 8610494.2475792],
  ['nearly antipodal', 8.226828747671, -8.516119211674269, 178.68897958262923, 19886305.6710041],
  ['short', 19.707097385334, 19.707739582810255, 0.000260256428101053, 76.1478894],
  ['from a pole', 89.997817345644, 39.575446357285394, 177.37513389772602, 5619818.6599569],
  ['from pole to pole', 89.99833069486, -89.99660978510279, 55.68763971258267, 20003423.7670087],
  ['near a meridian', 6.169086571167, -81.44365772329188, 0.009314581453032444, 9728514.005172],
  ['near the equator', 0.000290941474, 0.003161589143015711, 81.07625972265579, 9025367.9474346],
  ['between vertices', 4.199535552987, -4.199535552987, 179.398106343455, 19970505.6080974],
  ['ending at a vertex', 21.004101257892, -21.004101257877444, 179.4364122001581, 19974623.3063849],
]
const LINE_TOLERANCE_METERS = 1e-7

/** A quarter of the northern hemisphere: the ellipsoid's area 4πc² / 8, m². */
const OCTANT = [0, 0, 90, 0, 0, 90, 0, 0]
const OCTANT_SQUARE_METERS = 510_065_621_724_088.4 / 8
const AREA_TOLERANCE_SQUARE_METERS = 0.1

/** XOR of the bits of 512 results: the same on every machine, or WebAssembly is not what it promises here. */
const GOLDEN_BITS = '97659cfc51562f21'

/**
 * Checks that the kernel computes here what it computed where it was made.
 *
 * @throws {Error} with the name of what failed: the service must not start then (decision 97)
 */
export function selfTestKernel(kernel: Kernel): void {
  for (const [kind, lat1, lat2, lon12, expected] of LINES) {
    const error = Math.abs(kernel.inverse(lat1, 0, lat2, lon12) - expected)
    if (!(error <= LINE_TOLERANCE_METERS)) fail(`a line that is ${kind}`)
    const error2 = Math.abs(kernel.inverse(lat2, lon12, lat1, 0) - expected)
    if (!(error2 <= LINE_TOLERANCE_METERS)) fail(`the reverse of a line that is ${kind}`)
  }
  if (kernel.inverse(48.5, 2.5, 48.5, 2.5) !== 0) fail('a line to its own start')
  const mark = kernel.mark()
  const area = kernel.ringArea(kernel.write(Float64Array.from(OCTANT)), OCTANT.length / 2)
  kernel.releaseTo(mark)
  if (!(Math.abs(area - OCTANT_SQUARE_METERS) <= AREA_TOLERANCE_SQUARE_METERS)) fail('the area of an octant')
  if (goldenBits(kernel) !== GOLDEN_BITS) fail('bit-equal results')
}

/** 16 hex digits that depend on every bit of 512 lengths over the whole ellipsoid. */
export function goldenBits(kernel: Kernel): string {
  const result = new DataView(new ArrayBuffer(8))
  let bits = 0n
  let state = 1
  // Park and Miller's generator: the same numbers everywhere, in integers that a double holds exactly.
  const next = (range: number) => {
    state = (state * 16807) % 2147483647
    return (state / 2147483647) * range
  }
  for (let index = 0; index < 512; index++) {
    const scale = 10 ** -(index % 8)
    const lat1 = next(180) - 90
    const lon1 = next(360) - 180
    const lat2 = Math.max(-90, Math.min(90, lat1 + (next(180) - 90) * scale))
    const lon2 = Math.max(-180, Math.min(180, lon1 + (next(360) - 180) * scale))
    result.setFloat64(0, kernel.inverse(lat1, lon1, lat2, lon2))
    // Rotate first, so that equal results do not cancel.
    bits = ((bits << 7n) | (bits >> 57n)) & 0xffff_ffff_ffff_ffffn
    bits ^= result.getBigUint64(0)
  }
  return bits.toString(16).padStart(16, '0')
}

function fail(what: string): never {
  throw new Error(`the geodesic kernel failed its self-test: ${what}`)
}
