/**
 * Earth-centred Cartesian (ECEF) coordinates of WGS 84 vertices, and bounds that a straight chord gives for the
 * geodesic over it.
 *
 * In space there are no poles and no antimeridian, so boxes and bounds need no special cases.
 */

import { a, e2 } from '../geodesic/series'
import {
  absLanes,
  cosLanes,
  div,
  ifEqual,
  ifLess,
  loadFirsts,
  loadLanes,
  loadSeconds,
  mul,
  nearestLanes,
  negate,
  sinLanes,
  splat,
  sqrtLanes,
  storeLanes,
  sub,
} from '../math/lanes'
import { DEGREE, square } from '../math/math'

/**
 * Smallest and greatest radius of curvature of the ellipsoid, metres: along the meridian at the equator, and in any
 * direction at a pole.
 */
export const RLO: f64 = 6335439.3272928195
export const RHI: f64 = 6399593.6257584931
/** Longer than any shortest geodesic on WGS 84, metres. */
export const LONGEST_GEODESIC: f64 = 20004000
/** Bytes of a position in a table of `toEcef`: three doubles x, y, z. */
export const ECEF_BYTES: usize = 24

/**
 * Writes x, y, z in metres for each vertex.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param out pointer to 3 doubles per vertex
 */
export function toEcef(vertices: usize, count: i32, out: usize): void {
  let i = 0
  if (ASC_FEATURE_SIMD) {
    for (; i + 2 <= count; i += 2) {
      storePositions<v128>(loadFirsts<v128>(vertices, 16), loadSeconds<v128>(vertices, 16), out)
      vertices += 32
      out += 2 * ECEF_BYTES
    }
  }
  for (; i < count; i++) {
    storePosition(load<f64>(vertices, 8), load<f64>(vertices), out)
    vertices += 16
    out += ECEF_BYTES
  }
}

/** Writes x, y, z in metres for one position in degrees. */
export function storePosition(lat: f64, lon: f64, out: usize): void {
  storePositions<f64>(lon, lat, out)
}

function storePositions<T>(lon: T, lat: T, out: usize): void {
  sincos<T>(lat)
  const slat = loadLanes<T>(sines)
  const normal = div<T>(splat<T>(a), sqrtLanes<T>(sub<T>(splat<T>(1), mul<T>(splat<T>(e2), mul<T>(slat, slat)))))
  const r = mul<T>(normal, loadLanes<T>(cosines))
  const z = mul<T>(mul<T>(normal, splat<T>(1 - e2)), slat)
  sincos<T>(lon)
  const x = mul<T>(r, loadLanes<T>(cosines))
  const y = mul<T>(r, loadLanes<T>(sines))
  if (isVector<T>()) {
    v128.store(out, v128.shuffle<f64>(changetype<v128>(x), changetype<v128>(y), 0, 2))
    v128.store(out, v128.shuffle<f64>(changetype<v128>(z), changetype<v128>(x), 0, 3), 16)
    v128.store(out, v128.shuffle<f64>(changetype<v128>(y), changetype<v128>(z), 1, 3), 32)
  } else {
    store<f64>(out, <f64>x)
    store<f64>(out, <f64>y, 8)
    store<f64>(out, <f64>z, 16)
  }
}

/** Results of `sincos`, for one lane or two. */
const sines: usize = memory.data(16, 16)
const cosines: usize = memory.data(16, 16)

/**
 * Stores sine and cosine of d degrees, |d| ≤ 180, accurate to one or two units in the last place; exact at multiples of
 * 90°.
 */
@inline
function sincos<T>(d: T): void {
  const q = nearestLanes<T>(mul<T>(d, splat<T>(1.0 / 90)))
  // The subtraction is exact.
  const x = mul<T>(sub<T>(d, mul<T>(q, splat<T>(90))), splat<T>(DEGREE))
  const z = mul<T>(x, x)
  const s = sinLanes<T>(x, z)
  const c = cosLanes<T>(z)
  const quadrant = absLanes<T>(q)
  const one = splat<T>(1)
  const zero = splat<T>(0)
  const isQuarter = ifEqual<T>(quadrant, one, one, zero)
  const sine = ifEqual<T>(isQuarter, one, c, s)
  const cosine = ifEqual<T>(isQuarter, one, s, c)
  const isHalf = ifLess<T>(one, quadrant, one, zero)
  const flipsSine = ifLess<T>(q, zero, one, isHalf)
  const flipsCosine = ifEqual<T>(q, one, one, isHalf)
  storeLanes<T>(sines, ifEqual<T>(flipsSine, one, negate<T>(sine), sine))
  storeLanes<T>(cosines, ifEqual<T>(flipsCosine, one, negate<T>(cosine), cosine))
}

/** Square of the chord between two positions. */
@inline
export function chordSquare(p: usize, q: usize): f64 {
  return (
    square(load<f64>(p) - load<f64>(q)) + square(load<f64>(p, 8) - load<f64>(q, 8)) + square(load<f64>(p, 16) - load<f64>(q, 16))
  )
}

/**
 * Upper bound of the length of the geodesic over a chord: 2·Rlo·asin(c / 2Rlo), with the arcsine series rounded up.
 * Beyond 5,000 km that bound is too loose to be useful, so the function returns the bound of all geodesics (decision 99).
 */
export function geodesicUpperBound(chord: f64): f64 {
  if (chord > 5e6) return LONGEST_GEODESIC
  const x2 = square(chord / (2 * RLO))
  return chord * (1 + x2 * (1.0 / 6 + 0.09 * x2))
}

/**
 * Upper bound of the chord under a geodesic of this length: 2·Rhi·sin(s / 2Rhi), with a margin for the rounding of
 * coordinates.
 */
export function chordUpperBound(length: f64): f64 {
  const c = 2 * RHI * Math.sin(length / (2 * RHI))
  return c * (1 + 1e-12) + 1e-8
}

/** Upper bound of how far a geodesic of at most this length is from its chord. Its curvature is at most 1 / Rlo. */
@inline
export function sagitta(length: f64): f64 {
  return square(length) / (8 * RLO)
}

/** Square of the distance in space from p to the straight segment from–to. All three arguments point to x, y, z. */
export function segmentDistanceSquare(p: usize, from: usize, to: usize): f64 {
  const dx = load<f64>(to) - load<f64>(from)
  const dy = load<f64>(to, 8) - load<f64>(from, 8)
  const dz = load<f64>(to, 16) - load<f64>(from, 16)
  const qx = load<f64>(p) - load<f64>(from)
  const qy = load<f64>(p, 8) - load<f64>(from, 8)
  const qz = load<f64>(p, 16) - load<f64>(from, 16)
  const along = qx * dx + qy * dy + qz * dz
  if (along <= 0) return qx * qx + qy * qy + qz * qz
  const whole = dx * dx + dy * dy + dz * dz
  const t = along >= whole ? 1 : along / whole
  return square(qx - t * dx) + square(qy - t * dy) + square(qz - t * dz)
}

/**
 * Lower bound of the squared distance in space between two straight segments: a margin for rounding is subtracted. May
 * be < 0.
 */
export function segmentsDistanceSquare(from1: usize, to1: usize, from2: usize, to2: usize): f64 {
  const ux = load<f64>(to1) - load<f64>(from1)
  const uy = load<f64>(to1, 8) - load<f64>(from1, 8)
  const uz = load<f64>(to1, 16) - load<f64>(from1, 16)
  const vx = load<f64>(to2) - load<f64>(from2)
  const vy = load<f64>(to2, 8) - load<f64>(from2, 8)
  const vz = load<f64>(to2, 16) - load<f64>(from2, 16)
  const wx = load<f64>(from1) - load<f64>(from2)
  const wy = load<f64>(from1, 8) - load<f64>(from2, 8)
  const wz = load<f64>(from1, 16) - load<f64>(from2, 16)
  const uu = ux * ux + uy * uy + uz * uz
  const uv = ux * vx + uy * vy + uz * vz
  const vv = vx * vx + vy * vy + vz * vz
  const uw = ux * wx + uy * wy + uz * wz
  const vw = vx * wx + vy * wy + vz * wz
  // s and t are the fractions along both segments where they are closest, each clamped to [0, 1]: s is clamped first, t
  // follows from it, and if t must be clamped, s is computed again.
  const determinant = uu * vv - uv * uv
  let s = determinant > 0 ? clampedRatio(uv * vw - vv * uw, determinant) : 0
  let t = s * uv + vw
  // If the second segment has no length, only s matters.
  if (t < 0 || vv == 0) {
    t = 0
    s = clampedRatio(-uw, uu)
  } else if (t > vv) {
    t = 1
    s = clampedRatio(uv - uw, uu)
  } else {
    t = clampedRatio(t, vv)
  }
  // For nearly parallel segments s and t are nearly arbitrary. That does little harm, because the distance hardly
  // depends on them.
  const rounding = 1e-14 * (uu + vv + wx * wx + wy * wy + wz * wz)
  return square(wx + s * ux - t * vx) + square(wy + s * uy - t * vy) + square(wz + s * uz - t * vz) - rounding
}

/** part / whole, clamped to [0, 1]; 0 for 0 / 0. */
@inline
function clampedRatio(part: f64, whole: f64): f64 {
  return part <= 0 ? 0 : part >= whole ? 1 : part / whole
}

/** Longest edge, metres, whose sides are decided by a plane (`planeOffset`). */
export const LONGEST_PLANAR: f64 = 5e5
/** Rounding error of positions in space, metres. */
export const ROUNDING: f64 = 4e-9
/** Multiplying the z of a position near the ellipsoid by this gives a normal of the surface there. */
export const OBLATE: f64 = 1 / (1 - e2)

/**
 * Upper bound of how far a geodesic of at most this length, or its continuation up to `beyond` metres from its ends,
 * strays from the plane of the edge. That plane contains both ends and the normal of the ellipsoid at the middle of the
 * chord.
 *
 * Let w be the distance from the plane and ν the plane's normal. Then w″ = κ·n·ν with the curvature κ ≤ 1/Rlo and the
 * surface normal n. n leaves the plane at most at the rate of the geodesic torsion, which is at most half the
 * difference of the principal curvatures, 5.3·10⁻¹⁰ per metre. Hence
 *
 *   |w| ≤ 5.2·10⁻¹⁸·L³ between the ends,   |w| ≤ 1.4·10⁻¹⁷·(L + r)³ beyond them.
 */
export function planeDeviation(length: f64, beyond: f64): f64 {
  const inside = 6e-18 * length * length * length
  if (beyond == 0) return inside
  const whole = length + beyond
  return inside * (whole / length) + 1.6e-17 * whole * whole * whole
}

/**
 * Signed distance of p from the plane of the edge from–to, metres, positive on its left; the ends must differ. See
 * `planeDeviation`.
 */
export function planeOffset(p: usize, from: usize, to: usize): f64 {
  const ax = load<f64>(from)
  const ay = load<f64>(from, 8)
  const az = load<f64>(from, 16)
  const dx = load<f64>(to) - ax
  const dy = load<f64>(to, 8) - ay
  const dz = load<f64>(to, 16) - az
  const mx = ax + dx / 2
  const my = ay + dy / 2
  const mz = (az + dz / 2) * OBLATE
  const nx = my * dz - mz * dy
  const ny = mz * dx - mx * dz
  const nz = mx * dy - my * dx
  const qx = load<f64>(p) - ax
  const qy = load<f64>(p, 8) - ay
  const qz = load<f64>(p, 16) - az
  return (qx * nx + qy * ny + qz * nz) / Math.sqrt(nx * nx + ny * ny + nz * nz)
}

/**
 * Upper bound of the rounding error of `planeOffset`, metres. The shorter the edge, the less its ends determine the
 * plane.
 */
export function offsetRounding(p: usize, from: usize, to: usize): f64 {
  return ROUNDING * (1 + Math.sqrt(chordSquare(p, from) / chordSquare(to, from)))
}
