/**
 * The next terms of the series in short-edge.ts, for edges of up to half a degree: further factors of X² and Y².
 *
 * They solve the same equations. The terms of fourth order in λ and Δ are exact in e². Those of sixth order are
 * truncated after e² (after e⁴ where that is the first). With them a length agrees with numerical quadrature within
 * 10⁻¹⁰ m and an area within 10⁻⁸ m². For comparison, the S12 of an edge of that length has a rounding error of 10⁻⁴
 * m².
 *
 * Arguments: ll is λ² and dd is Δ², both in radians²; ss is s², the squared sine of the mean latitude.
 */
import { e2 } from './series'

const e4: f64 = e2 * e2
const e6: f64 = e2 * e4

/** The factor of X² in length². */
export function eastLength(ll: f64, ss: f64): f64 {
  const cc = 1 - ss
  return ll * ll * ss * ((4 * ss - 3) / 360 - (e2 * cc * cc) / 120)
}

/** The factor of Y² in length². */
export function northLength(ll: f64, dd: f64, ss: f64): f64 {
  const dddd = (e2 * (2 * ss - 1) + e4 * (6 * ss - 5) * (7 * ss - 1)) / 80
  const lldd = (e2 * (2 * ss - 1) * (11 * ss + 4)) / 240 - (14 * ss + 1) / 720
  const llll = (ss * (24 * ss - 8) - 1 + e2 * (1 - ss) * (2 * ss - 1) * (43 * ss + 2)) / 720
  return dd * dd * dddd + ll * dd * lldd + ll * ll * llll
}

/** The factor of X² in the area. */
export function eastArea(ll: f64, ss: f64): f64 {
  const cc = 1 - ss
  const second = (2 - ss * (3 + e2 * (1 - 2 * ss))) / (240 * (1 - e2))
  const fourth = (ss * (45 * ss - 60) + 17) / 20160 - (e2 * cc * cc * (48 * ss - 17)) / 10080
  return ll * (second + ll * fourth)
}

/** The factor of Y² in the area. */
export function northArea(ll: f64, dd: f64, ss: f64): f64 {
  const t = 1 - e2 * ss
  const north2 =
    (25 + 12 * e2 + 128 * e4 - ss * (147 * e2 + 280 * e4 - 232 * e6 - ss * (347 * e4 - 452 * e6 + ss * (135 * e6)))) /
    (1920 * (1 - e2) * t * t)
  const east2 =
    (5 + 6 * e2 - ss * (15 + 32 * e2 - 14 * e4 - ss * (46 * e2 - 13 * e4 - ss * (11 * e4)))) / (480 * (1 - e2) * (1 - e2))
  const north4 = 61 / 46080.0 + (e2 * (725 - 2069 * ss)) / 322560
  const both = (5 - 33 * ss) / 4608 + (e2 * (ss * (2467 * ss - 2176) + 129)) / 80640
  const east4 = (ss * (15 * ss - 15) + 2) / 1920 + (e2 * (1 - ss) * (ss * (212 * ss - 214) + 23)) / 6720
  return dd * (north2 + dd * north4) + ll * (east2 + dd * both + ll * east4)
}
