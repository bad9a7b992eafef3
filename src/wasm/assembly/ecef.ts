/**
 * Earth-centred Cartesian coordinates of WGS 84 vertices, and what a straight chord says about the geodesic over it.
 *
 * In space there are no poles and no antimeridian, so boxes and bounds need no special cases.
 */
import { absOf, div, ifEqual, ifLess, loadFirsts, loadLanes, loadSeconds, mul, nearestOf, negate, splat, sqrtOf, storeLanes, sub } from './lanes'
import { cosineOf, sineOf } from './lane-trigonometry'
import { DEGREE, square } from './math'
import { a, e2 } from './series'

/** Smallest and greatest radius of curvature of the ellipsoid: meridian at the equator, any direction at a pole. */
export const RLO: f64 = 6335439.3272928195
export const RHI: f64 = 6399593.6257584931
/** Longer than any shortest geodesic on WGS 84, metres. */
export const LONGEST: f64 = 20004000
/** Doubles a position takes in a table of `toEcef`: x, y, z. */
export const ECEF_BYTES: usize = 24

/**
 * Writes x, y, z in metres for each vertex.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param out pointer to 3 doubles a vertex
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
    positionOf(load<f64>(vertices, 8), load<f64>(vertices), out)
    vertices += 16
    out += ECEF_BYTES
  }
}

/** The same for one position in degrees. */
export function positionOf(lat: f64, lon: f64, out: usize): void {
  storePositions<f64>(lon, lat, out)
}

function storePositions<T>(lon: T, lat: T, out: usize): void {
  sincos<T>(lat)
  const slat = loadLanes<T>(sines)
  const normal = div<T>(splat<T>(a), sqrtOf<T>(sub<T>(splat<T>(1), mul<T>(splat<T>(e2), mul<T>(slat, slat)))))
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

/** Results of `sincos`, one lane or two. */
const sines: usize = memory.data(16, 16)
const cosines: usize = memory.data(16, 16)

/** Sine and cosine of degrees, |d| ≤ 180, to the last place or two; exact at multiples of 90°. */
@inline
function sincos<T>(d: T): void {
  const q = nearestOf<T>(mul<T>(d, splat<T>(1.0 / 90)))
  // The difference is exact.
  const x = mul<T>(sub<T>(d, mul<T>(q, splat<T>(90))), splat<T>(DEGREE))
  const z = mul<T>(x, x)
  const s = sineOf<T>(x, z)
  const c = cosineOf<T>(z)
  const turns = absOf<T>(q)
  const one = splat<T>(1)
  const zero = splat<T>(0)
  const isQuarter = ifEqual<T>(turns, one, one, zero)
  const sine = ifEqual<T>(isQuarter, one, c, s)
  const cosine = ifEqual<T>(isQuarter, one, s, c)
  const isHalf = ifLess<T>(one, turns, one, zero)
  const flipsSine = ifLess<T>(q, zero, one, isHalf)
  const flipsCosine = ifEqual<T>(q, one, one, isHalf)
  storeLanes<T>(sines, ifEqual<T>(flipsSine, one, negate<T>(sine), sine))
  storeLanes<T>(cosines, ifEqual<T>(flipsCosine, one, negate<T>(cosine), cosine))
}

/** Square of the chord between two positions. */
@inline
export function chordSquare(p: usize, q: usize): f64 {
  return (
    square(load<f64>(p) - load<f64>(q)) +
    square(load<f64>(p, 8) - load<f64>(q, 8)) +
    square(load<f64>(p, 16) - load<f64>(q, 16))
  )
}

/**
 * Upper bound of the geodesic over a chord: 2·Rlo·asin(c / 2Rlo), with the series of the arcsine rounded up.
 * Beyond 5,000 km the bound says nothing useful and is that of every geodesic (decision 99).
 */
export function longestOver(chord: f64): f64 {
  if (chord > 5e6) return LONGEST
  const x2 = square(chord / (2 * RLO))
  return chord * (1 + x2 * (1.0 / 6 + 0.09 * x2))
}

/** Longest chord under a geodesic of this length: 2·Rhi·sin(s / 2Rhi), with room for the rounding of coordinates. */
export function chordUnder(length: f64): f64 {
  const c = 2 * RHI * Math.sin(length / (2 * RHI))
  return c * (1 + 1e-12) + 1e-8
}

/** How far a geodesic of at most this length can stand off its chord: it bends with at most 1 / Rlo. */
@inline
export function sagitta(length: f64): f64 {
  return square(length) / (8 * RLO)
}

/** Square of the distance in space from P to the straight segment A–B; all three point to x, y, z. */
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

/** Square of the distance in space between two straight segments, less what rounding may add to it; may be negative. */
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
  // The least is where both shares are between 0 and 1: one share is clamped, the other follows, and is clamped in its turn.
  const determinant = uu * vv - uv * uv
  let s = determinant > 0 ? share(uv * vw - vv * uw, determinant) : 0
  let t = s * uv + vw
  // A second segment without length is at one place: the first share alone counts.
  if (t < 0 || vv == 0) {
    t = 0
    s = share(-uw, uu)
  } else if (t > vv) {
    t = 1
    s = share(uv - uw, uu)
  } else {
    t = share(t, vv)
  }
  // Where the segments are all but parallel the shares are all but arbitrary, which costs little: the valley is flat.
  const rounding = 1e-14 * (uu + vv + wx * wx + wy * wy + wz * wz)
  return square(wx + s * ux - t * vx) + square(wy + s * uy - t * vy) + square(wz + s * uz - t * vz) - rounding
}

/** part / whole between 0 and 1; 0 for nothing of nothing. */
@inline
function share(part: f64, whole: f64): f64 {
  return part <= 0 ? 0 : part >= whole ? 1 : part / whole
}

/** Edges of at most this length, metres, are held against planes. */
export const PLANAR: f64 = 5e5
/** Rounding of positions in space, metres. */
export const ROUNDING: f64 = 4e-9
/** What turns a position near the ellipsoid into a normal of the surface, by its z. */
export const OBLATE: f64 = 1 / (1 - e2)

/**
 * How far a geodesic of at most this length, or its continuation up to `beyond` metres from its ends, strays from the
 * plane through its ends and the normal of the ellipsoid in the middle of its chord.
 *
 * With w its distance from the plane w″ = κ·n·ν, where κ ≤ 1/Rlo, and the normal n leaves the plane at no more than the
 * geodesic torsion, which is at most half the difference of the principal curvatures, 5.3·10⁻¹⁰ a metre: |w| ≤ 5.2·10⁻¹⁸·L³
 * between the ends, and 1.4·10⁻¹⁷·(L + r)³ beyond them.
 */
export function stray(length: f64, beyond: f64): f64 {
  const inside = 6e-18 * length * length * length
  if (beyond == 0) return inside
  const whole = length + beyond
  return inside * (whole / length) + 1.6e-17 * whole * whole * whole
}

/** Set by `planeOffset`: how much of it may be rounding, for a short segment fixes its plane only as well as its ends. */
export let offsetRounding: f64 = 0

/** Signed distance of P from the plane of the edge A–B, left of it positive; A and B differ. See `stray`. */
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
  offsetRounding =
    ROUNDING * (1 + Math.sqrt((qx * qx + qy * qy + qz * qz) / (dx * dx + dy * dy + dz * dz)))
  return (qx * nx + qy * ny + qz * nz) / Math.sqrt(nx * nx + ny * ny + nz * nz)
}
