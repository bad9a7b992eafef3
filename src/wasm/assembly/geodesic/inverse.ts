/**
 * The inverse geodesic problem on WGS 84: Karney, Algorithms for geodesics, J. Geodesy 87 (2013),
 * doi:10.1007/s00190-012-0578-z. Within 15 nm everywhere.
 *
 * A geodesic on the ellipsoid corresponds to a great circle on an auxiliary sphere whose latitude is the reduced
 * latitude. The two longitudes differ: λ is smaller than ω by at most the fraction f. The solver searches for the
 * azimuth α1 at point 1 whose geodesic reaches the latitude of point 2 at the right longitude.
 *
 * The names follow the paper, in all files of the kernel:
 *
 * | name | letter | meaning |
 * | --- | --- | --- |
 * | lat | φ | geographic latitude |
 * | bet | β | reduced latitude: tan β = (1 − f) tan φ |
 * | alp | α | azimuth, clockwise from north; alp0 is the azimuth where the geodesic crosses the equator |
 * | sig | σ | arc length on the auxiliary sphere, from the northward crossing of the equator |
 * | omg | ω | longitude on the auxiliary sphere |
 * | lam | λ | longitude on the ellipsoid, in radians |
 * | s…, c… | | sine and cosine of the angle that follows: sbet1 is sin β1 |
 * | …1, …2, …12 | | at point 1, at point 2, the difference of the two |
 * | dn | | √(1 + e'² sin²β) |
 * | eps | ε | expansion parameter of the series |
 * | s12 | | length |
 * | m12 | | reduced length: how far neighbouring geodesics from point 1 spread, per radian |
 * | M12, M21 | | geodesic scales: how far initially parallel geodesics spread, as a ratio |
 * | S12 | | area between the geodesic and the equator |
 * | P12 | | area between the geodesic and a pole (not in the paper) |
 * | a, b, f, f1, n, e2, ep2, c2 | | constants of the ellipsoid, in series.ts |
 */
import {
  EPSILON, TINY, atan2, cosx, high, longitudeDifference, low, norm, roundAngle, sincosDegrees, sinx, square, DEGREE,
} from '../math/math'
import * as start from './inverse-start'
import { expansion, lengths, m12b, s12b, scale12, scale21 } from './lengths'
import { A3f, C4a, C4f, a, b, c2, cosSeries, e2, ep2, f, f1, n } from './series'
import { multiplySines, roughJ12, sumC3 } from '../math/sines'

/**
 * Results of `inverse`: lengths in metres, areas in square metres, azimuths as sine and cosine, scales as ratios. The
 * next call overwrites them; other modules that call `inverse` in between do so too.
 */
export let s12: f64 = 0
export let m12: f64 = 0
export let M12: f64 = 0
export let M21: f64 = 0
export let S12: f64 = 0
export let P12: f64 = 0
export let salp1: f64 = 0
export let calp1: f64 = 0
export let salp2: f64 = 0
export let calp2: f64 = 0

const NEWTON_STEPS: i32 = 20
const ALL_STEPS: i32 = 83 // the bisection needs at most one step per bit

// Results of `lambda12`.
let sig12: f64 = 0
let ssig1: f64 = 0
let csig1: f64 = 0
let ssig2: f64 = 0
let csig2: f64 = 0
let eps: f64 = 0
let domg12: f64 = 0
let dlam12: f64 = 0

/**
 * Solves for the shortest geodesic between two points in degrees. Sets s12, m12, M12, M21 and the azimuths, but not S12
 * and P12.
 *
 * @returns s12
 */
export function inverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return solve(lat1, lon1, lat2, lon2, false)
}

/**
 * Solves as `inverse` does and also sets S12, the area between the geodesic and the equator, and P12, the area between
 * the geodesic and the pole of its hemisphere. P12 is valid only when both points lie on one side of the equator.
 * East-going areas are positive.
 */
export function inverseWithArea(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return solve(lat1, lon1, lat2, lon2, true)
}

function solve(lat1: f64, lon1: f64, lat2: f64, lon2: f64, wantsArea: bool): f64 {
  lat1 = roundAngle(lat1)
  lat2 = roundAngle(lat2)
  longitudeDifference(lon1, lon2)
  let lonsign = copysign<f64>(1, high)
  const lon12 = high * lonsign
  const lon12e = low * lonsign
  const lam12 = lon12 * DEGREE
  sincosDegrees(lon12, lon12e)
  const slam12 = sinx
  const clam12 = cosx
  const supplement = 180 - lon12 - lon12e

  // Canonical form: 0 ≤ λ12 ≤ π, lat1 ≤ 0, |lat2| ≤ −lat1. Swapped and mirrored problems reduce to the same one, so
  // they give the same bits.
  const swapp: f64 = Math.abs(lat1) < Math.abs(lat2) ? -1 : 1
  if (swapp < 0) {
    lonsign = -lonsign
    const t = lat1
    lat1 = lat2
    lat2 = t
  }
  const latsign = copysign<f64>(1, -lat1)
  lat1 *= latsign
  lat2 *= latsign

  sincosDegrees(lat1, 0)
  let sbet1 = f1 * sinx
  let cbet1 = cosx
  let t = norm(sbet1, cbet1)
  sbet1 /= t
  cbet1 = Math.max(TINY, cbet1 / t)
  sincosDegrees(lat2, 0)
  let sbet2 = f1 * sinx
  let cbet2 = cosx
  t = norm(sbet2, cbet2)
  sbet2 /= t
  cbet2 = Math.max(TINY, cbet2 / t)
  // Where |β2| = |β1|, their sines and cosines must be exactly equal: the formula for α2 in `lambda12` subtracts them.
  if (cbet1 < -sbet1) {
    if (cbet2 == cbet1) sbet2 = copysign(sbet1, sbet2)
  } else if (Math.abs(sbet2) == -sbet1) {
    cbet2 = cbet1
  }
  const dn1 = Math.sqrt(1 + ep2 * square(sbet1))
  const dn2 = Math.sqrt(1 + ep2 * square(sbet2))

  let s12x: f64 = 0
  let m12x: f64 = 0
  let somg12: f64 = 2 // 2 cannot be a sine; it means that it is not computed yet
  let comg12: f64 = 0
  let omg12: f64 = 0
  let lamomg12: f64 = 0 // λ12 − ω12

  let isMeridian = lat1 == -90 || slam12 == 0
  if (isMeridian) {
    calp1 = clam12
    salp1 = slam12
    calp2 = 1
    salp2 = 0
    const cs1 = calp1 * cbet1
    const cs2 = calp2 * cbet2
    sig12 = Math.atan2(Math.max(0, cs1 * sbet2 - sbet1 * cs2), cs1 * cs2 + sbet1 * sbet2)
    lengths(n, sig12, sbet1, cs1, dn1, sbet2, cs2, dn2, cbet1, cbet2)
    s12x = s12b
    m12x = m12b
    M12 = scale12
    M21 = scale21
    if (sig12 < 1 || m12x >= 0) {
      if (sig12 < 3 * TINY || (sig12 < EPSILON && (s12x < 0 || m12x < 0))) {
        sig12 = 0
        m12x = 0
        s12x = 0
      }
      m12x *= b
      s12x *= b
    } else {
      isMeridian = false // it passes the conjugate point, so it is not the shortest
    }
  }

  if (!isMeridian && sbet1 == 0 && supplement >= f * 180) {
    // The geodesic runs along the equator.
    calp1 = 0
    calp2 = 0
    salp1 = 1
    salp2 = 1
    s12x = a * lam12
    omg12 = lam12 / f1
    lamomg12 = lam12 - omg12
    sig12 = omg12
    m12x = b * Math.sin(sig12)
    M12 = Math.cos(sig12)
    M21 = M12
  } else if (!isMeridian) {
    const solved = start.inverseStart(sbet1, cbet1, sbet2, cbet2, lam12, slam12, clam12)
    salp1 = start.salp1
    calp1 = start.calp1
    if (solved) {
      salp2 = start.salp2
      calp2 = start.calp2
      const dnm = start.dnm
      sig12 = start.sig12
      s12x = sig12 * b * dnm
      m12x = square(dnm) * b * Math.sin(sig12 / dnm)
      M12 = Math.cos(sig12 / dnm)
      M21 = M12
      omg12 = lam12 / (f1 * dnm)
      lamomg12 = lam12 - omg12
    } else {
      newton(sbet1, cbet1, dn1, sbet2, cbet2, dn2, slam12, clam12)
      lengths(eps, sig12, ssig1, csig1, dn1, ssig2, csig2, dn2, cbet1, cbet2)
      s12x = s12b * b
      m12x = m12b * b
      M12 = scale12
      M21 = scale21
      lamomg12 = domg12
      if (wantsArea) {
        const sdomg12 = Math.sin(domg12)
        const cdomg12 = Math.cos(domg12)
        somg12 = slam12 * cdomg12 - clam12 * sdomg12
        comg12 = clam12 * cdomg12 + slam12 * sdomg12
      }
    }
  }
  s12 = s12x + 0
  m12 = m12x + 0
  if (wantsArea) {
    if (!isMeridian && somg12 == 2) {
      somg12 = Math.sin(omg12)
      comg12 = Math.cos(omg12)
    }
    const series = areaSeries(sbet1, cbet1, sbet2, cbet2)
    const east = swapp * lonsign
    S12 = (series + c2 * spherical(sbet1, cbet1, sbet2, cbet2, somg12, comg12, isMeridian)) * east * latsign + 0
    // Both points of the canonical problem lie south of the equator. A meridian leads to the pole, so no area is
    // between them.
    P12 = isMeridian ? 0 : (series + c2 * (lamomg12 + excess(sbet1, cbet1, sbet2, cbet2, somg12, comg12))) * east + 0
  }

  if (swapp < 0) {
    t = salp1
    salp1 = salp2
    salp2 = t
    t = calp1
    calp1 = calp2
    calp2 = t
    t = M12
    M12 = M21
    M21 = t
  }
  salp1 *= swapp * lonsign
  calp1 *= swapp * latsign
  salp2 *= swapp * lonsign
  calp2 *= swapp * latsign
  return s12
}

/**
 * Finds the α1 whose geodesic has the longitude difference λ12. Newton's method starts from salp1, calp1. The solution
 * stays between salp1a, calp1a and salp1b, calp1b; bisection of this bracket replaces a Newton step that fails. Sets
 * the azimuths and the results of `lambda12`.
 */
function newton(
  sbet1: f64, cbet1: f64, dn1: f64, sbet2: f64, cbet2: f64, dn2: f64, slam12: f64, clam12: f64,
): void {
  let salp1a = TINY
  let calp1a: f64 = 1
  let salp1b = TINY
  let calp1b: f64 = -1
  let tripn = false
  let tripb = false
  for (let step: i32 = 0; ; step++) {
    const v = lambda12(sbet1, cbet1, dn1, sbet2, cbet2, dn2, salp1, calp1, slam12, clam12, step < NEWTON_STEPS)
    if (tripb || Math.abs(v) < (tripn ? 8 : 1) * EPSILON || step == ALL_STEPS) break
    if (v > 0 && (step < NEWTON_STEPS || calp1 / salp1 > calp1b / salp1b)) {
      salp1b = salp1
      calp1b = calp1
    } else if (v < 0 && (step < NEWTON_STEPS || calp1 / salp1 < calp1a / salp1a)) {
      salp1a = salp1
      calp1a = calp1
    }
    if (step < NEWTON_STEPS && dlam12 > 0) {
      const dalp1 = -v / dlam12
      if (Math.abs(dalp1) < Math.PI) {
        const sdalp1 = Math.sin(dalp1)
        const cdalp1 = Math.cos(dalp1)
        const nsalp1 = salp1 * cdalp1 + calp1 * sdalp1
        if (nsalp1 > 0) {
          calp1 = calp1 * cdalp1 - salp1 * sdalp1
          salp1 = nsalp1
          const t = norm(salp1, calp1)
          salp1 /= t
          calp1 /= t
          // Where the slope vanishes, convergence is only linear. So a small step proves nothing; the residual must be
          // small too.
          tripn = Math.abs(v) <= 16 * EPSILON
          continue
        }
      }
    }
    salp1 = (salp1a + salp1b) / 2
    calp1 = (calp1a + calp1b) / 2
    const t = norm(salp1, calp1)
    salp1 /= t
    calp1 /= t
    tripn = false
    tripb =
      Math.abs(salp1a - salp1) + (calp1a - calp1) < EPSILON || Math.abs(salp1 - salp1b) + (calp1 - calp1b) < EPSILON
  }
}

/**
 * Returns the longitude difference of the geodesic that starts with azimuth α1 and ends at the latitude of point 2,
 * minus λ12, in radians. slam120 and clam120 are the sine and cosine of λ12. With `wantsSlope` it also sets dlam12, the
 * derivative by α1.
 */
function lambda12(
  sbet1: f64, cbet1: f64, dn1: f64, sbet2: f64, cbet2: f64, dn2: f64,
  salp1: f64, calp1: f64, slam120: f64, clam120: f64, wantsSlope: bool,
): f64 {
  if (sbet1 == 0 && calp1 == 0) calp1 = -TINY // an equatorial line has no σ1
  const salp0 = salp1 * cbet1
  const calp0 = norm(calp1, salp1 * sbet1)
  ssig1 = sbet1
  const somg1 = salp0 * sbet1
  csig1 = calp1 * cbet1
  const comg1 = csig1
  let t = norm(ssig1, csig1)
  ssig1 /= t
  csig1 /= t
  salp2 = cbet2 != cbet1 ? salp0 / cbet2 : salp1
  calp2 =
    cbet2 != cbet1 || Math.abs(sbet2) != -sbet1
      ? Math.sqrt(
          square(calp1 * cbet1) +
            (cbet1 < -sbet1 ? (cbet2 - cbet1) * (cbet1 + cbet2) : (sbet1 - sbet2) * (sbet1 + sbet2)),
        ) / cbet2
      : Math.abs(calp1)
  ssig2 = sbet2
  const somg2 = salp0 * sbet2
  csig2 = calp2 * cbet2
  const comg2 = csig2
  t = norm(ssig2, csig2)
  ssig2 /= t
  csig2 /= t
  const ssig12 = Math.max(0, csig1 * ssig2 - ssig1 * csig2)
  const csig12 = csig1 * csig2 + ssig1 * ssig2
  sig12 = atan2(ssig12, csig12)
  const somg12 = Math.max(0, comg1 * somg2 - somg1 * comg2)
  const comg12 = comg1 * comg2 + somg1 * somg2
  const eta = atan2(somg12 * clam120 - comg12 * slam120, comg12 * clam120 + somg12 * slam120)
  eps = expansion(calp0)
  multiplySines(ssig1, csig1, ssig2, csig2, ssig12, csig12)
  domg12 = -f * A3f(eps) * salp0 * (sig12 + sumC3(eps))
  if (wantsSlope) {
    if (calp2 == 0) {
      dlam12 = (-2 * f1 * dn1) / sbet1
    } else {
      const m12b = dn2 * (csig1 * ssig2) - dn1 * (ssig1 * csig2) - csig1 * csig2 * roughJ12(eps, sig12)
      dlam12 = (m12b * f1) / (calp2 * cbet2)
    }
  }
  return eta + domg12
}

/** The ellipsoidal part of S12 of the canonical problem, by the series C4 (section 6). */
function areaSeries(sbet1: f64, cbet1: f64, sbet2: f64, cbet2: f64): f64 {
  const salp0 = salp1 * cbet1
  const calp0 = norm(calp1, salp1 * sbet1)
  if (calp0 == 0 || salp0 == 0) return 0
  const cs1 = calp1 * cbet1
  const cs2 = calp2 * cbet2
  const A4 = square(a) * calp0 * salp0 * e2
  const t1 = norm(sbet1, cs1)
  const t2 = norm(sbet2, cs2)
  C4f(expansion(calp0))
  return A4 * (cosSeries(sbet2 / t2, cs2 / t2, C4a) - cosSeries(sbet1 / t1, cs1 / t1, C4a))
}

/** α2 − α1: the area between a great circle and the equator on the unit sphere (section 6). */
function spherical(sbet1: f64, cbet1: f64, sbet2: f64, cbet2: f64, somg12: f64, comg12: f64, isMeridian: bool): f64 {
  if (!isMeridian && comg12 > -0.7071 && sbet2 - sbet1 < 1.75) {
    // From the tangent of half the spherical excess, which is accurate for short lines.
    const domg = 1 + comg12
    const dbet1 = 1 + cbet1
    const dbet2 = 1 + cbet2
    return 2 * Math.atan2(somg12 * (sbet1 * dbet2 + sbet2 * dbet1), domg * (sbet1 * sbet2 + dbet1 * dbet2))
  }
  let salp12 = salp2 * calp1 - calp2 * salp1
  let calp12 = calp2 * calp1 + salp2 * salp1
  if (salp12 == 0 && calp12 < 0) {
    salp12 = TINY * calp1
    calp12 = -1
  }
  return Math.atan2(salp12, calp12)
}

/**
 * ω12 + α2 − α1: the area between a great circle and the south pole on the unit sphere, which is the excess of their
 * triangle.
 *
 * At 85° S12 is two hundred times larger than this area, and so is its rounding error.
 */
function excess(sbet1: f64, cbet1: f64, sbet2: f64, cbet2: f64, somg12: f64, comg12: f64): f64 {
  const t = (cbet1 / (1 - sbet1)) * (cbet2 / (1 - sbet2)) // tangents of half the distances to the pole
  return 2 * Math.atan2(t * somg12, 1 + t * comg12)
}
