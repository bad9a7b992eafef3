/**
 * The direct geodesic problem: start point, azimuth and length give the end point (Karney 2013). docs/geodesy.md lists
 * the letters. In addition, τ = σ + B1(σ) is the arc proportional to length: s = b·A1·τ.
 */
import { atan2Degrees, norm, roundAngle, SineCosine, sincosDegrees, TINY } from '../math/math'
import { A1m1f, A3f, b, C1a, C1f, C1pa, C1pf, C3a, C3f, expansion, f, f1, sinSeries } from './series'

/** A point of a geodesic: degrees, longitude in [-180, 180], and the azimuth of the geodesic there. */
@unmanaged
export class Waypoint {
  lat: f64
  lon: f64
  salp: f64
  calp: f64
}

const phi1 = changetype<SineCosine>(memory.data(offsetof<SineCosine>(), 8))

/**
 * Stores the end point of the geodesic of length s12 metres from (lat1, lon1) in degrees with azimuth salp1, calp1.
 */
export function direct(lat1: f64, lon1: f64, salp1: f64, calp1: f64, s12: f64, out: Waypoint): void {
  sincosDegrees(roundAngle(lat1), 0, phi1)
  let sbet1 = f1 * phi1.sine
  let cbet1 = phi1.cosine
  let t = norm(sbet1, cbet1)
  sbet1 /= t
  cbet1 = Math.max(TINY, cbet1 / t)
  const salp0 = salp1 * cbet1
  const calp0 = norm(calp1, salp1 * sbet1)
  let ssig1 = sbet1
  const somg1 = salp0 * sbet1
  let csig1 = sbet1 != 0 || calp1 != 0 ? cbet1 * calp1 : 1
  const comg1 = csig1
  t = norm(ssig1, csig1)
  ssig1 /= t
  csig1 /= t
  const eps = expansion(calp0)
  const A1 = 1 + A1m1f(eps)
  C1f(eps)
  C1pf(eps)
  C3f(eps)
  const B11 = sinSeries(ssig1, csig1, C1a)
  // τ1 = σ1 + B1(σ1). The length gives τ12 below, and the reverted series C1' gives σ from τ.
  const sb = Math.sin(B11)
  const cb = Math.cos(B11)
  const stau1 = ssig1 * cb + csig1 * sb
  const ctau1 = csig1 * cb - ssig1 * sb
  const B31 = sinSeries(ssig1, csig1, C3a)
  const A3c = -f * salp0 * A3f(eps)

  const tau12 = s12 / (b * A1)
  const st = Math.sin(tau12)
  const ct = Math.cos(tau12)
  const B12 = -sinSeries(stau1 * ct + ctau1 * st, ctau1 * ct - stau1 * st, C1pa)
  const sig12 = tau12 - (B12 - B11)
  const ssig12 = Math.sin(sig12)
  const csig12 = Math.cos(sig12)
  const ssig2 = ssig1 * csig12 + csig1 * ssig12
  let csig2 = csig1 * csig12 - ssig1 * ssig12
  const sbet2 = calp0 * ssig2
  let cbet2 = norm(salp0, calp0 * csig2)
  if (cbet2 == 0) {
    // At a pole every azimuth is valid; this one continues the meridian.
    cbet2 = TINY
    csig2 = TINY
  }
  const calp2 = calp0 * csig2
  t = norm(salp0, calp2)
  out.salp = salp0 / t
  out.calp = calp2 / t
  const somg2 = salp0 * ssig2
  const comg2 = csig2
  const omg12 = Math.atan2(somg2 * comg1 - comg2 * somg1, comg2 * comg1 + somg2 * somg1)
  const lam12 = omg12 + A3c * (sig12 + (sinSeries(ssig2, csig2, C3a) - B31))
  const lon12 = atan2Degrees(Math.sin(lam12), Math.cos(lam12))
  const lon = lon1 + lon12
  out.lon = lon > 180 ? lon - 360 : lon < -180 ? lon + 360 : lon
  out.lat = atan2Degrees(sbet2, f1 * cbet2)
}
