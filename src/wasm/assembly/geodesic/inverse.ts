/**
 * The inverse geodesic problem on WGS 84: Karney, Algorithms for geodesics, J. Geodesy 87 (2013),
 * doi:10.1007/s00190-012-0578-z. The error of a length is below 15 nm everywhere.
 *
 * A geodesic on the ellipsoid corresponds to a great circle on an auxiliary sphere whose latitude is the reduced
 * latitude. The two longitudes differ: λ is smaller than ω by at most the fraction f. The solver searches for the
 * azimuth α1 at point 1 whose geodesic reaches the latitude of point 2 at the right longitude.
 *
 * The names follow the paper, in all files of the kernel: docs/geodesy.md, section "Names in the kernel", lists them.
 */
import {
  atan2,
  DEGREE,
  EPSILON,
  longitudeDifference,
  longitudeDifferenceLow,
  norm,
  roundAngle,
  SineCosine,
  sincosDegrees,
  square,
  TINY,
} from '../math/math'
import { countSolutions } from '../math/work'
import { inverseStart, Start } from './inverse-start'
import { Lengths, lengths, multiplySines, roughJ12, SineProducts, sumC3 } from './lengths'
import { A3f, a, b, C4a, C4f, c2, cosSeries, e2, ep2, expansion, f, f1, n } from './series'

/** A solved geodesic: lengths in metres, areas in square metres, azimuths as sine and cosine, scales as ratios. */
@unmanaged
export class Geodesic {
  s12: f64
  m12: f64
  M12: f64
  M21: f64
  S12: f64
  P12: f64
  salp1: f64
  calp1: f64
  salp2: f64
  calp2: f64
}

/** Both points in canonical form: 0 ≤ λ12 ≤ π, lat1 ≤ 0, |lat2| ≤ −lat1. */
@unmanaged
class Problem {
  sbet1: f64
  cbet1: f64
  dn1: f64
  sbet2: f64
  cbet2: f64
  dn2: f64
  lam12: f64
  slam12: f64
  clam12: f64
  /** 180° − λ12, degrees. */
  supplement: f64
}

/** The geodesic on the auxiliary sphere. */
@unmanaged
class Arc {
  sig12: f64
  ssig1: f64
  csig1: f64
  ssig2: f64
  csig2: f64
  eps: f64
  /** ω12, set only by closed forms, and λ12 − ω12. */
  omg12: f64
  domg12: f64
  /** Derivative of the longitude difference with respect to α1. */
  dlam12: f64
}

const NEWTON_STEPS: i32 = 20
/** Steps that one unit of work includes. Nearly all problems need fewer. */
const ORDINARY_STEPS: i32 = 5
const ALL_STEPS: i32 = 83 // the bisection needs at most one step per bit

/** How the canonical problem was solved: along a meridian, by a closed form (ω12 is proportional to λ12), by the series. */
const MERIDIAN: i32 = 0
const CLOSED: i32 = 1
const SERIES: i32 = 2

// Working memory of one call of `solve`.
const problem = changetype<Problem>(memory.data(offsetof<Problem>(), 8))
const arc = changetype<Arc>(memory.data(offsetof<Arc>(), 8))
const start = changetype<Start>(memory.data(offsetof<Start>(), 8))
const measures = changetype<Lengths>(memory.data(offsetof<Lengths>(), 8))
const products = changetype<SineProducts>(memory.data(offsetof<SineProducts>(), 8))
const angle = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))
const unused = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))

/** Returns the length of the shortest geodesic between two points in degrees. */
export function geodesicLength(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  return solve(lat1, lon1, lat2, lon2, false, unused)
}

/**
 * Solves for the shortest geodesic between two points in degrees. Stores s12, m12, M12, M21 and the azimuths, but not
 * S12 and P12.
 *
 * @returns s12
 */
export function inverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64, out: Geodesic): f64 {
  return solve(lat1, lon1, lat2, lon2, false, out)
}

/**
 * Solves as `inverse` does and also stores S12, the area between the geodesic and the equator, and P12, the area
 * between the geodesic and the pole of its hemisphere. P12 is valid only when both points lie on one side of the
 * equator. East-going areas are positive.
 */
export function inverseWithArea(lat1: f64, lon1: f64, lat2: f64, lon2: f64, out: Geodesic): f64 {
  return solve(lat1, lon1, lat2, lon2, true, out)
}

function solve(lat1: f64, lon1: f64, lat2: f64, lon2: f64, wantsArea: bool, out: Geodesic): f64 {
  lat1 = roundAngle(lat1)
  lat2 = roundAngle(lat2)
  const lon12 = longitudeDifference(lon1, lon2)
  const lon12Low = longitudeDifferenceLow(lon1, lon2)
  // Swapped and mirrored problems reduce to the same canonical form, so they give the same bits.
  const isSwapped = Math.abs(lat1) < Math.abs(lat2)
  const swapsign: f64 = isSwapped ? -1 : 1
  const lonsign = swapsign * copysign<f64>(1, lon12)
  const latsign = copysign<f64>(1, isSwapped ? -lat2 : -lat1)
  const east = Math.abs(lon12)
  const eastLow = lon12Low * copysign<f64>(1, lon12)
  setProblem(problem, latsign * (isSwapped ? lat2 : lat1), latsign * (isSwapped ? lat1 : lat2), east, eastLow)

  const method = solveCanonical(problem, arc, out)
  if (wantsArea) storeAreas(problem, arc, method, swapsign * lonsign, latsign, out)
  if (isSwapped) swapEnds(out)
  out.salp1 *= swapsign * lonsign
  out.calp1 *= swapsign * latsign
  out.salp2 *= swapsign * lonsign
  out.calp2 *= swapsign * latsign
  return out.s12
}

/** Fills a problem from canonical latitudes and a longitude difference, degrees. */
function setProblem(p: Problem, lat1: f64, lat2: f64, lon12: f64, lon12Low: f64): void {
  sincosDegrees(lon12, lon12Low, angle)
  p.lam12 = lon12 * DEGREE
  p.slam12 = angle.sine
  p.clam12 = angle.cosine
  p.supplement = 180 - lon12 - lon12Low
  sincosDegrees(lat1, 0, angle)
  const sbet1 = f1 * angle.sine
  const t1 = norm(sbet1, angle.cosine)
  p.sbet1 = sbet1 / t1
  p.cbet1 = Math.max(TINY, angle.cosine / t1)
  sincosDegrees(lat2, 0, angle)
  const sbet2 = f1 * angle.sine
  const t2 = norm(sbet2, angle.cosine)
  p.sbet2 = sbet2 / t2
  p.cbet2 = Math.max(TINY, angle.cosine / t2)
  // Where |β2| = |β1|, their sines and cosines must be exactly equal: the formula for α2 in `lambda12` subtracts them.
  if (p.cbet1 < -p.sbet1) {
    if (p.cbet2 == p.cbet1) p.sbet2 = copysign(p.sbet1, p.sbet2)
  } else if (Math.abs(p.sbet2) == -p.sbet1) {
    p.cbet2 = p.cbet1
  }
  p.dn1 = Math.sqrt(1 + ep2 * square(p.sbet1))
  p.dn2 = Math.sqrt(1 + ep2 * square(p.sbet2))
}

/** Stores everything except areas for the canonical problem. Returns MERIDIAN, CLOSED or SERIES. */
function solveCanonical(p: Problem, arc: Arc, out: Geodesic): i32 {
  // The cosine is TINY at a pole only.
  if ((p.cbet1 == TINY || p.slam12 == 0) && solveMeridian(p, out)) return MERIDIAN
  if (p.sbet1 == 0 && p.supplement >= f * 180) {
    solveEquator(p, arc, out)
    return CLOSED
  }
  const isSolved = inverseStart(p.sbet1, p.cbet1, p.sbet2, p.cbet2, p.lam12, p.slam12, p.clam12, start)
  out.salp1 = start.salp1
  out.calp1 = start.calp1
  if (isSolved) {
    const dnm = start.dnm
    const sig12 = start.sig12
    out.salp2 = start.salp2
    out.calp2 = start.calp2
    out.s12 = sig12 * b * dnm + 0
    out.m12 = square(dnm) * b * Math.sin(sig12 / dnm) + 0
    out.M12 = Math.cos(sig12 / dnm)
    out.M21 = out.M12
    arc.omg12 = p.lam12 / (f1 * dnm)
    arc.domg12 = p.lam12 - arc.omg12
    return CLOSED
  }
  newton(p, arc, out)
  lengths(arc.eps, arc.sig12, arc.ssig1, arc.csig1, p.dn1, arc.ssig2, arc.csig2, p.dn2, p.cbet1, p.cbet2, measures)
  out.s12 = measures.s12b * b + 0
  out.m12 = measures.m12b * b + 0
  out.M12 = measures.M12
  out.M21 = measures.M21
  return SERIES
}

/** Returns false when the meridian passes the conjugate point; then it is not the shortest geodesic. */
function solveMeridian(p: Problem, out: Geodesic): bool {
  const cs1 = p.clam12 * p.cbet1
  const cs2 = p.cbet2
  const sig12 = Math.atan2(Math.max(0, cs1 * p.sbet2 - p.sbet1 * cs2), cs1 * cs2 + p.sbet1 * p.sbet2)
  lengths(n, sig12, p.sbet1, cs1, p.dn1, p.sbet2, cs2, p.dn2, p.cbet1, p.cbet2, measures)
  const s12 = measures.s12b
  const m12 = measures.m12b
  if (sig12 >= 1 && m12 < 0) return false
  const isPoint = sig12 < 3 * TINY || (sig12 < EPSILON && (s12 < 0 || m12 < 0))
  out.s12 = isPoint ? 0 : s12 * b + 0
  out.m12 = isPoint ? 0 : m12 * b + 0
  out.M12 = measures.M12
  out.M21 = measures.M21
  out.salp1 = p.slam12
  out.calp1 = p.clam12
  out.salp2 = 0
  out.calp2 = 1
  return true
}

function solveEquator(p: Problem, arc: Arc, out: Geodesic): void {
  const omg12 = p.lam12 / f1
  arc.omg12 = omg12
  arc.domg12 = p.lam12 - omg12
  out.s12 = a * p.lam12 + 0
  out.m12 = b * Math.sin(omg12) + 0
  out.M12 = Math.cos(omg12)
  out.M21 = out.M12
  out.salp1 = 1
  out.calp1 = 0
  out.salp2 = 1
  out.calp2 = 0
}

/** Stores S12 and P12. `eastsign` is −1 when the geodesic goes west; `latsign` likewise when latitudes were mirrored. */
function storeAreas(p: Problem, arc: Arc, method: i32, eastsign: f64, latsign: f64, out: Geodesic): void {
  const isMeridian = method == MERIDIAN
  let somg12: f64 = 0
  let comg12: f64 = 0
  if (method == CLOSED) {
    somg12 = Math.sin(arc.omg12)
    comg12 = Math.cos(arc.omg12)
  } else if (method == SERIES) {
    const sdomg12 = Math.sin(arc.domg12)
    const cdomg12 = Math.cos(arc.domg12)
    somg12 = p.slam12 * cdomg12 - p.clam12 * sdomg12
    comg12 = p.clam12 * cdomg12 + p.slam12 * sdomg12
  }
  const series = areaSeries(p, out)
  out.S12 = (series + c2 * spherical(p, out, somg12, comg12, isMeridian)) * eastsign * latsign + 0
  // Both points of the canonical problem lie south of the equator. A meridian leads to the pole, so no area is between
  // them.
  out.P12 = isMeridian ? 0 : (series + c2 * (arc.domg12 + excess(p, somg12, comg12))) * eastsign + 0
}

function swapEnds(g: Geodesic): void {
  const salp1 = g.salp1
  const calp1 = g.calp1
  const M12 = g.M12
  g.salp1 = g.salp2
  g.calp1 = g.calp2
  g.M12 = g.M21
  g.salp2 = salp1
  g.calp2 = calp1
  g.M21 = M12
}

/**
 * Finds the α1 whose geodesic has the longitude difference λ12. Newton's method starts from the azimuth in `out`. The
 * solution stays between salp1a, calp1a and salp1b, calp1b; bisection of this bracket replaces a Newton step that
 * fails. Stores the azimuths and the arc.
 */
function newton(p: Problem, arc: Arc, out: Geodesic): void {
  let salp1 = out.salp1
  let calp1 = out.calp1
  let salp1a = TINY
  let calp1a: f64 = 1
  let salp1b = TINY
  let calp1b: f64 = -1
  // GeographicLib's names. tripn: the last Newton step nearly converged, so the next tolerance is wider. tripb: the bracket
  // is as narrow as rounding allows, and one more evaluation follows.
  let tripn = false
  let tripb = false
  for (let step: i32 = 0; ; step++) {
    const v = lambda12(p, salp1, calp1, step < NEWTON_STEPS, arc, out)
    if (tripb || Math.abs(v) < (tripn ? 8 : 1) * EPSILON || step == ALL_STEPS) {
      if (step > ORDINARY_STEPS) countSolutions(step / ORDINARY_STEPS)
      break
    }
    if (v > 0 && (step < NEWTON_STEPS || calp1 / salp1 > calp1b / salp1b)) {
      salp1b = salp1
      calp1b = calp1
    } else if (v < 0 && (step < NEWTON_STEPS || calp1 / salp1 < calp1a / salp1a)) {
      salp1a = salp1
      calp1a = calp1
    }
    if (step < NEWTON_STEPS && arc.dlam12 > 0) {
      const dalp1 = -v / arc.dlam12
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
    tripb = Math.abs(salp1a - salp1) + (calp1a - calp1) < EPSILON || Math.abs(salp1 - salp1b) + (calp1 - calp1b) < EPSILON
  }
  out.salp1 = salp1
  out.calp1 = calp1
}

/**
 * Returns the longitude difference of the geodesic that starts with azimuth α1 and ends at the latitude of point 2,
 * minus λ12, in radians. Stores the arc, dlam12 only with `wantsSlope`, and the azimuth α2 in `out`.
 */
function lambda12(p: Problem, salp1: f64, calp1: f64, wantsSlope: bool, arc: Arc, out: Geodesic): f64 {
  const sbet1 = p.sbet1
  const cbet1 = p.cbet1
  const sbet2 = p.sbet2
  const cbet2 = p.cbet2
  if (sbet1 == 0 && calp1 == 0) calp1 = -TINY // an equatorial line has no σ1
  const salp0 = salp1 * cbet1
  const calp0 = norm(calp1, salp1 * sbet1)
  let ssig1 = sbet1
  const somg1 = salp0 * sbet1
  let csig1 = calp1 * cbet1
  const comg1 = csig1
  let t = norm(ssig1, csig1)
  ssig1 /= t
  csig1 /= t
  const salp2 = cbet2 != cbet1 ? salp0 / cbet2 : salp1
  const calp2 =
    cbet2 != cbet1 || Math.abs(sbet2) != -sbet1
      ? Math.sqrt(
          square(calp1 * cbet1) + (cbet1 < -sbet1 ? (cbet2 - cbet1) * (cbet1 + cbet2) : (sbet1 - sbet2) * (sbet1 + sbet2)),
        ) / cbet2
      : Math.abs(calp1)
  let ssig2 = sbet2
  const somg2 = salp0 * sbet2
  let csig2 = calp2 * cbet2
  const comg2 = csig2
  t = norm(ssig2, csig2)
  ssig2 /= t
  csig2 /= t
  const ssig12 = Math.max(0, csig1 * ssig2 - ssig1 * csig2)
  const csig12 = csig1 * csig2 + ssig1 * ssig2
  const sig12 = atan2(ssig12, csig12)
  const somg12 = Math.max(0, comg1 * somg2 - somg1 * comg2)
  const comg12 = comg1 * comg2 + somg1 * somg2
  const eta = atan2(somg12 * p.clam12 - comg12 * p.slam12, comg12 * p.clam12 + somg12 * p.slam12)
  const eps = expansion(calp0)
  multiplySines(ssig1, csig1, ssig2, csig2, ssig12, csig12, products)
  const domg12 = -f * A3f(eps) * salp0 * (sig12 + sumC3(products, eps))
  if (wantsSlope) {
    if (calp2 == 0) {
      arc.dlam12 = (-2 * f1 * p.dn1) / sbet1
    } else {
      const m12b = p.dn2 * (csig1 * ssig2) - p.dn1 * (ssig1 * csig2) - csig1 * csig2 * roughJ12(products, eps, sig12)
      arc.dlam12 = (m12b * f1) / (calp2 * cbet2)
    }
  }
  out.salp2 = salp2
  out.calp2 = calp2
  arc.sig12 = sig12
  arc.ssig1 = ssig1
  arc.csig1 = csig1
  arc.ssig2 = ssig2
  arc.csig2 = csig2
  arc.eps = eps
  arc.domg12 = domg12
  return eta + domg12
}

/** The ellipsoidal part of S12 of the canonical problem, by the series C4 (section 6). */
function areaSeries(p: Problem, g: Geodesic): f64 {
  const salp0 = g.salp1 * p.cbet1
  const calp0 = norm(g.calp1, g.salp1 * p.sbet1)
  if (calp0 == 0 || salp0 == 0) return 0
  const cs1 = g.calp1 * p.cbet1
  const cs2 = g.calp2 * p.cbet2
  const A4 = square(a) * calp0 * salp0 * e2
  const t1 = norm(p.sbet1, cs1)
  const t2 = norm(p.sbet2, cs2)
  C4f(expansion(calp0))
  return A4 * (cosSeries(p.sbet2 / t2, cs2 / t2, C4a) - cosSeries(p.sbet1 / t1, cs1 / t1, C4a))
}

/** α2 − α1: the area between a great circle and the equator on the unit sphere (section 6). */
function spherical(p: Problem, g: Geodesic, somg12: f64, comg12: f64, isMeridian: bool): f64 {
  const sbet1 = p.sbet1
  const sbet2 = p.sbet2
  if (!isMeridian && comg12 > -0.7071 && sbet2 - sbet1 < 1.75) {
    // From the tangent of half the spherical excess, which is accurate for short lines.
    const domg = 1 + comg12
    const dbet1 = 1 + p.cbet1
    const dbet2 = 1 + p.cbet2
    return 2 * Math.atan2(somg12 * (sbet1 * dbet2 + sbet2 * dbet1), domg * (sbet1 * sbet2 + dbet1 * dbet2))
  }
  let salp12 = g.salp2 * g.calp1 - g.calp2 * g.salp1
  let calp12 = g.calp2 * g.calp1 + g.salp2 * g.salp1
  if (salp12 == 0 && calp12 < 0) {
    salp12 = TINY * g.calp1
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
function excess(p: Problem, somg12: f64, comg12: f64): f64 {
  const t = (p.cbet1 / (1 - p.sbet1)) * (p.cbet2 / (1 - p.sbet2)) // tangents of half the distances to the pole
  return 2 * Math.atan2(t * somg12, 1 + t * comg12)
}
