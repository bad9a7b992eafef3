import type { Kernel } from './loader.ts'

/**
 * Geodesics from C. F. F. Karney's test set, one of each kind: lat1, lat2 and lon2 − lon1 in degrees, length in metres.
 * The set gives lengths to 10⁻⁷ m. A vertex of a geodesic is its point of extreme latitude here, as in Karney's papers.
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

/**
 * Geodesics whose length has a closed form: a·E(e²) for a quarter meridian, evaluated to 40 digits, and a·π/2 for a
 * quarter of the equator. Rounded to 10⁻⁷ m; same columns as above.
 */
const CLOSED_FORMS: typeof LINES = [
  ['a quarter meridian', 0, 90, 0, 10001965.7293127],
  ['half a meridian over the pole', 0, 0, 180, 20003931.4586254],
  ['a quarter of the equator', 0, 0, 90, 10018754.1713946],
]

/** An octant, a quarter of the northern hemisphere, and its area: 2π(a² + b² atanh(e)/e) / 8, evaluated to 40 digits, m². */
const OCTANT = [0, 0, 90, 0, 0, 90, 0, 0]
const OCTANT_SQUARE_METERS = 63_758_202_715_511.06
/** A few units in the last place of an area of that size. */
const AREA_TOLERANCE_SQUARE_METERS = 0.1

/**
 * The expected value of `goldenBits`, which depends on every bit of 7,172 results. WebAssembly arithmetic is
 * deterministic, so a different value means that this engine does not follow its specification.
 */
const GOLDEN_BITS = '92644d477faebfe4'

/**
 * Checks that the kernel gives the same results on this machine as on the machine where it was developed.
 *
 * @throws {Error} naming the failed check; the service must not start then (decision 97)
 */
export function selfTestKernel(kernel: Kernel): void {
  for (const [kind, lat1, lat2, lon12, expected] of [...LINES, ...CLOSED_FORMS]) {
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

/** How far apart the ends of the golden lines are. Literals, because `**` may differ in the last bit between engines. */
const SCALES = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7]

/**
 * Returns 16 hex digits that depend on every bit of the results for 512 geodesics all over the ellipsoid (length,
 * reduced length, areas, azimuths, and the end point from the direct problem), and for a long and a short ring through
 * their start points (length and area of the ring and of each edge).
 */
export function goldenBits(kernel: Kernel): string {
  const double = new DataView(new ArrayBuffer(8))
  let bits = 0n
  const mix = (result: number) => {
    double.setFloat64(0, result)
    // Rotate first, so that two equal results do not cancel.
    bits = ((bits << 7n) | (bits >> 57n)) & 0xffff_ffff_ffff_ffffn
    bits ^= double.getBigUint64(0)
  }
  let state = 1
  // Park and Miller's generator uses only integers that a double holds exactly, so it gives the same numbers everywhere.
  const next = (range: number) => {
    state = (state * 16807) % 2147483647
    return (state / 2147483647) * range
  }
  const ring: number[] = []
  const shortRing: number[] = []
  for (let index = 0; index < 512; index++) {
    const scale = SCALES[index % SCALES.length]!
    const lat1 = next(180) - 90
    const lon1 = next(360) - 180
    const lat2 = Math.max(-90, Math.min(90, lat1 + (next(180) - 90) * scale))
    const lon2 = Math.max(-180, Math.min(180, lon1 + (next(360) - 180) * scale))
    const s12 = kernel.inverseWithArea(lat1, lon1, lat2, lon2)
    const results = [
      kernel.m12(),
      kernel.S12(),
      kernel.P12(),
      kernel.salp1(),
      kernel.calp1(),
      kernel.salp2(),
      kernel.calp2(),
    ]
    const arrivalLat = kernel.direct(lat1, lon1, kernel.salp1(), kernel.calp1(), s12)
    for (const result of [s12, ...results, arrivalLat, kernel.arrivalLon()]) mix(result)
    ring.push(lon1, lat1)
    shortRing.push(lon1 / 1e5, 45 + lat1 / 1e5)
  }
  const mark = kernel.mark()
  for (const positions of [ring, shortRing]) {
    positions.push(positions[0]!, positions[1]!)
    const vertices = kernel.write(Float64Array.from(positions))
    mix(kernel.lineLength(vertices, positions.length / 2))
    mix(kernel.ringArea(vertices, positions.length / 2))
    const edges = positions.length / 2 - 1
    const out = kernel.write(new Float64Array(edges))
    kernel.generalLengths(vertices, edges + 1, out)
    for (const length of new Float64Array(kernel.memory.buffer, out, edges)) mix(length)
    kernel.generalAreas(vertices, edges + 1, 0, out)
    for (const area of new Float64Array(kernel.memory.buffer, out, edges)) mix(area)
  }
  kernel.releaseTo(mark)
  return bits.toString(16).padStart(16, '0')
}

function fail(check: string): never {
  throw new Error(`the geodesic kernel failed its self-test: ${check}`)
}
