/**
 * The series of Karney, Algorithms for geodesics, J. Geodesy 87 (2013), to order 6, on WGS 84. docs/geodesy.md lists the letters.
 *
 * An integral along a geodesic (length, reduced length, longitude, area) is a mean value A times σ plus a Fourier
 * series in σ. All coefficients are polynomials in ε, the expansion parameter of the geodesic, and in n, the third
 * flattening, which is constant here.
 *
 * | name | equation | integral |
 * | --- | --- | --- |
 * | A1, C1 | 17, 18 | length: s = b·A1·(σ + Σ C1l sin 2lσ) |
 * | C1' | 21 | the reverted series: from length back to σ |
 * | A2, C2 | 42, 43 | the second integral of the reduced length (C2 is in lengths.ts) |
 * | A3, C3 | 24, 25 | longitude: λ = ω − f sin α0 A3 (σ + Σ C3l sin 2lσ) |
 * | C4 | 63 | area: Σ C4l cos (2l + 1)σ |
 *
 * C1a, C1pa, C3a and C4a hold the coefficients of the geodesic that the function of the same letters was last called
 * for. The next call overwrites them. Only C4a uses index 0.
 */
import { square } from '../math/math'

export const a: f64 = 6378137 // equatorial radius, metres
export const f: f64 = 1 / 298.257223563 // flattening
export const f1: f64 = 1 - f
export const e2: f64 = f * (2 - f) // eccentricity squared
export const ep2: f64 = e2 / (f1 * f1) // second eccentricity squared
export const n: f64 = f / (2 - f) // third flattening
export const b: f64 = a * f1 // polar semi-axis, metres
/**
 * Authalic radius squared. atanh(e)/e is summed as a series; the first omitted term, e¹⁶/17 = 2·10⁻¹⁹, is below
 * rounding.
 */
export const c2: f64 =
  (a * a +
    b *
      b *
      (1 + e2 * (1 / 3.0 + e2 * (1 / 5.0 + e2 * (1 / 7.0 + e2 * (1 / 9.0 + e2 * (1 / 11.0 + e2 * (1 / 13.0 + e2 / 15.0)))))))) /
  2

export const C1a = new StaticArray<f64>(7)
export const C1pa = new StaticArray<f64>(7)
export const C3a = new StaticArray<f64>(6)
export const C4a = new StaticArray<f64>(6)

/** Expansion parameter of the geodesic with azimuth α0 at the equator. */
export function expansion(calp0: f64): f64 {
  const k2 = square(calp0) * ep2
  return k2 / (2 * (1 + Math.sqrt(1 + k2)) + k2)
}

/** A1 − 1. */
export function A1m1f(eps: f64): f64 {
  const eps2 = square(eps)
  const t = (eps2 * (eps2 * (eps2 + 4) + 64)) / 256
  return (t + eps) / (1 - eps)
}

/** Sets C1a (equation 18). */
export function C1f(eps: f64): void {
  const eps2 = square(eps)
  let d = eps
  unchecked((C1a[1] = (d * ((6 - eps2) * eps2 - 16)) / 32))
  d *= eps
  unchecked((C1a[2] = (d * ((64 - 9 * eps2) * eps2 - 128)) / 2048))
  d *= eps
  unchecked((C1a[3] = (d * (9 * eps2 - 16)) / 768))
  d *= eps
  unchecked((C1a[4] = (d * (3 * eps2 - 5)) / 512))
  d *= eps
  unchecked((C1a[5] = (-7 * d) / 1280))
  d *= eps
  unchecked((C1a[6] = (-7 * d) / 2048))
}

/** Sets C1pa (equation 21). */
export function C1pf(eps: f64): void {
  const eps2 = square(eps)
  let d = eps
  unchecked((C1pa[1] = (d * (eps2 * (205 * eps2 - 432) + 768)) / 1536))
  d *= eps
  unchecked((C1pa[2] = (d * (eps2 * (4005 * eps2 - 4736) + 3840)) / 12288))
  d *= eps
  unchecked((C1pa[3] = (d * (116 - 225 * eps2)) / 384))
  d *= eps
  unchecked((C1pa[4] = (d * (2695 - 7173 * eps2)) / 7680))
  d *= eps
  unchecked((C1pa[5] = (3467 * d) / 7680))
  d *= eps
  unchecked((C1pa[6] = (38081 * d) / 61440))
}

/** A2 − 1. */
export function A2m1f(eps: f64): f64 {
  const eps2 = square(eps)
  const t = (eps2 * (eps2 * (-11 * eps2 - 28) - 192)) / 256
  return (t - eps) / (1 + eps)
}

// Coefficients of A3: polynomials in n, constant on one ellipsoid.
const A30: f64 = 1
const A31: f64 = (n - 1) / 2
const A32: f64 = (n * (3 * n - 1) - 2) / 8
const A33: f64 = (n * (-n - 3) - 1) / 16
const A34: f64 = (-2 * n - 3) / 64
const A35: f64 = -3 / 128.0

/** A3. */
export function A3f(eps: f64): f64 {
  return A30 + eps * (A31 + eps * (A32 + eps * (A33 + eps * (A34 + eps * A35))))
}

// Coefficients of C3: polynomials in n, constant on one ellipsoid.
export const C311: f64 = (1 - n) / 4
export const C312: f64 = (1 - n * n) / 8
export const C313: f64 = (n * (3 - n) + 3) / 64
export const C314: f64 = (2 * n + 5) / 128
export const C315: f64 = 3 / 128.0
export const C322: f64 = (n * (n - 3) + 2) / 32
export const C323: f64 = (n * (-3 * n - 2) + 3) / 64
export const C324: f64 = (n + 3) / 128
export const C325: f64 = 5 / 256.0
export const C333: f64 = (n * (5 * n - 9) + 5) / 192
export const C334: f64 = (9 - 10 * n) / 384
export const C335: f64 = 7 / 512.0
export const C344: f64 = (7 - 14 * n) / 512
export const C345: f64 = 7 / 512.0
export const C355: f64 = 21 / 2560.0

/** Sets C3a. */
export function C3f(eps: f64): void {
  let d = eps
  unchecked((C3a[1] = d * (C311 + eps * (C312 + eps * (C313 + eps * (C314 + eps * C315))))))
  d *= eps
  unchecked((C3a[2] = d * (C322 + eps * (C323 + eps * (C324 + eps * C325)))))
  d *= eps
  unchecked((C3a[3] = d * (C333 + eps * (C334 + eps * C335))))
  d *= eps
  unchecked((C3a[4] = d * (C344 + eps * C345)))
  d *= eps
  unchecked((C3a[5] = d * C355))
}

// Coefficients of C4: polynomials in n, constant on one ellipsoid.
export const C400: f64 = (n * (n * (n * (n * (100 * n + 208) + 572) + 3432) - 12012) + 30030) / 45045
export const C401: f64 = (n * (n * (n * (64 * n + 624) - 4576) + 6864) - 3003) / 15015
export const C402: f64 = (n * ((14144 - 10656 * n) * n - 4576) - 858) / 45045
export const C403: f64 = (n * (-224 * n - 4784) + 1573) / 45045
export const C404: f64 = (1088 * n + 156) / 45045
export const C405: f64 = 97 / 15015.0
export const C411: f64 = (n * (n * ((-64 * n - 624) * n + 4576) - 6864) + 3003) / 135135
export const C412: f64 = (n * (n * (5952 * n - 11648) + 9152) - 2574) / 135135
export const C413: f64 = (n * (5792 * n + 1040) - 1287) / 135135
export const C414: f64 = (468 - 2944 * n) / 135135
export const C415: f64 = 1 / 9009.0
export const C422: f64 = (n * ((4160 - 1440 * n) * n - 4576) + 1716) / 225225
export const C423: f64 = ((4992 - 8448 * n) * n - 1144) / 225225
export const C424: f64 = (1856 * n - 936) / 225225
export const C425: f64 = 8 / 10725.0
export const C433: f64 = (n * (3584 * n - 3328) + 1144) / 315315
export const C434: f64 = (1024 * n - 208) / 105105
export const C435: f64 = -136 / 63063.0
export const C444: f64 = (832 - 2560 * n) / 405405
export const C445: f64 = -128 / 135135.0
export const C455: f64 = 128 / 99099.0

/** Sets C4a. */
export function C4f(eps: f64): void {
  let d: f64 = 1
  unchecked((C4a[0] = C400 + eps * (C401 + eps * (C402 + eps * (C403 + eps * (C404 + eps * C405))))))
  d *= eps
  unchecked((C4a[1] = d * (C411 + eps * (C412 + eps * (C413 + eps * (C414 + eps * C415))))))
  d *= eps
  unchecked((C4a[2] = d * (C422 + eps * (C423 + eps * (C424 + eps * C425)))))
  d *= eps
  unchecked((C4a[3] = d * (C433 + eps * (C434 + eps * C435))))
  d *= eps
  unchecked((C4a[4] = d * (C444 + eps * C445)))
  d *= eps
  unchecked((C4a[5] = d * C455))
}

/** Σ c[l] sin(2lσ), l = 1 … length − 1, by Clenshaw's recurrence; sinx and cosx are the sine and cosine of σ. */
export function sinSeries(sinx: f64, cosx: f64, c: StaticArray<f64>): f64 {
  let k = c.length
  let count = k - 1
  const ar = 2 * (cosx - sinx) * (cosx + sinx)
  let y0: f64 = count & 1 ? unchecked(c[--k]) : 0
  let y1: f64 = 0
  for (count >>= 1; count > 0; count--) {
    y1 = ar * y0 - y1 + unchecked(c[--k])
    y0 = ar * y1 - y0 + unchecked(c[--k])
  }
  return 2 * sinx * cosx * y0
}

/** Σ c[l] cos((2l + 1)σ), l = 0 … length − 1, by the same recurrence; the length must be even. */
export function cosSeries(sinx: f64, cosx: f64, c: StaticArray<f64>): f64 {
  let k = c.length
  const ar = 2 * (cosx - sinx) * (cosx + sinx)
  let y0: f64 = 0
  let y1: f64 = 0
  for (let count = k >> 1; count > 0; count--) {
    y1 = ar * y0 - y1 + unchecked(c[--k])
    y0 = ar * y1 - y0 + unchecked(c[--k])
  }
  return cosx * (y0 - y1)
}
