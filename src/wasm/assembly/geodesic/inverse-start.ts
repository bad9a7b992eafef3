/**
 * The starting azimuth for Newton's method in the inverse problem: Karney 2013. docs/geodesy.md lists the letters.
 */
import { EPSILON, norm, square } from '../math/math'
import { A3f, ep2, f, f1, n } from './series'

const TOL1: f64 = 200 * EPSILON
const TOL2: f64 = 1.4901161193847656e-8 // √EPSILON
const XTHRESH: f64 = 1000 * TOL2
/** Below this arc length in radians, the spherical solution is as accurate as rounding allows. */
const SHORT: f64 = (0.1 * TOL2) / Math.sqrt((f * (1 - f / 2)) / 2)

@unmanaged
export class Start {
  /** Azimuth at point 1. */
  salp1: f64
  calp1: f64
  /** Azimuth at point 2, arc length and mean dn: set only when `inverseStart` returns true. */
  salp2: f64
  calp2: f64
  sig12: f64
  dnm: f64
}

/**
 * Stores salp1 and calp1 for the canonical problem: β1 ≤ 0, |β2| ≤ −β1.
 *
 * @param lam12 longitude difference in [0, π]; slam12 and clam12 are its sine and cosine
 * @returns true when the line is so short that this is already the solution; then all of `out` is set
 */
export function inverseStart(
  sbet1: f64,
  cbet1: f64,
  sbet2: f64,
  cbet2: f64,
  lam12: f64,
  slam12: f64,
  clam12: f64,
  out: Start,
): bool {
  const sbet12 = sbet2 * cbet1 - cbet2 * sbet1
  const cbet12 = cbet2 * cbet1 + sbet2 * sbet1
  const sbet12a = sbet2 * cbet1 + cbet2 * sbet1
  const shortline = cbet12 >= 0 && sbet12 < 0.5 && cbet2 * lam12 < 0.5
  let somg12 = slam12
  let comg12 = clam12
  if (shortline) {
    let sbetm2 = square(sbet1 + sbet2)
    sbetm2 /= sbetm2 + square(cbet1 + cbet2) // sin² of the mean reduced latitude
    out.dnm = Math.sqrt(1 + ep2 * sbetm2)
    const omg12 = lam12 / (f1 * out.dnm)
    somg12 = Math.sin(omg12)
    comg12 = Math.cos(omg12)
  }
  let salp1 = cbet2 * somg12
  let calp1 =
    comg12 >= 0
      ? sbet12 + (cbet2 * sbet1 * square(somg12)) / (1 + comg12)
      : sbet12a - (cbet2 * sbet1 * square(somg12)) / (1 - comg12)
  const ssig12 = norm(salp1, calp1)
  const csig12 = sbet1 * sbet2 + cbet1 * cbet2 * comg12

  let solved = false
  if (shortline && ssig12 < SHORT) {
    const salp2 = cbet1 * somg12
    const calp2 = sbet12 - cbet1 * sbet2 * (comg12 >= 0 ? square(somg12) / (1 + comg12) : 1 - comg12)
    const t = norm(salp2, calp2)
    out.salp2 = salp2 / t
    out.calp2 = calp2 / t
    out.sig12 = Math.atan2(ssig12, csig12)
    solved = true
  } else if (csig12 < 0 && ssig12 < 6 * n * Math.PI * square(cbet1)) {
    nearAntipode(sbet1, cbet1, cbet2, sbet12a, slam12, clam12, out)
    salp1 = out.salp1
    calp1 = out.calp1
  }
  if (salp1 > 0) {
    const t = norm(salp1, calp1)
    out.salp1 = salp1 / t
    out.calp1 = calp1 / t
  } else {
    out.salp1 = 1
    out.calp1 = 0
  }
  return solved
}

/**
 * Stores salp1 and calp1 for nearly antipodal points, where the spherical azimuth is a bad guess. There the geodesics
 * from point 1 envelop an astroid around the antipode; the azimuth follows from its equation, in coordinates x, y
 * scaled to the astroid.
 */
function nearAntipode(sbet1: f64, cbet1: f64, cbet2: f64, sbet12a: f64, slam12: f64, clam12: f64, out: Start): void {
  const lam12x = Math.atan2(-slam12, -clam12) // λ12 − π
  const k2 = square(sbet1) * ep2
  const eps = k2 / (2 * (1 + Math.sqrt(1 + k2)) + k2)
  const lamscale = f * cbet1 * A3f(eps) * Math.PI
  const betscale = lamscale * cbet1
  const x = lam12x / lamscale
  const y = sbet12a / betscale
  if (y > -TOL1 && x > -1 - XTHRESH) {
    // Point 2 lies on the cut, where two shortest geodesics meet.
    out.salp1 = Math.min(1, -x)
    out.calp1 = -Math.sqrt(1 - square(out.salp1))
    return
  }
  const k = astroid(x, y)
  const omg12a = (lamscale * -x * k) / (1 + k)
  const somg12 = Math.sin(omg12a)
  const comg12 = -Math.cos(omg12a)
  out.salp1 = cbet2 * somg12
  out.calp1 = sbet12a - (cbet2 * sbet1 * square(somg12)) / (1 - comg12)
}

/** The positive root k of k⁴ + 2k³ − (x² + y² − 1)k² − 2y²k − y² = 0. */
function astroid(x: f64, y: f64): f64 {
  const p = square(x)
  const q = square(y)
  const r = (p + q - 1) / 6
  if (q == 0 && r <= 0) return 0
  const S = (p * q) / 4
  const r2 = square(r)
  const r3 = r * r2
  const discriminant = S * (S + 2 * r3)
  let u = r
  if (discriminant >= 0) {
    let T3 = S + r3
    // This sign of the root avoids cancellation.
    T3 += T3 < 0 ? -Math.sqrt(discriminant) : Math.sqrt(discriminant)
    const T = Math.cbrt(T3)
    u += T + (T != 0 ? r2 / T : 0)
  } else {
    const angle = Math.atan2(Math.sqrt(-discriminant), -(S + r3))
    u += 2 * r * Math.cos(angle / 3)
  }
  const v = Math.sqrt(square(u) + q)
  const uv = u < 0 ? q / (v - u) : u + v
  const w = (uv - q) / (2 * v)
  return uv / (Math.sqrt(uv + square(w)) + w)
}
