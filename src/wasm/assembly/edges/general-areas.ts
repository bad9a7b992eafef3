/**
 * Areas under edges of any length: by `generalArea` (no iteration) where its guards pass, else by Karney's inverse. The
 * choice depends only on the two ends of the edge, and one lane gives the same bits as two.
 */
import { generalArea } from '../geodesic/general-area'
import { Geodesic, inverseWithArea } from '../geodesic/inverse'
import { lonDifference, lonDifferenceLow, reducedCosine, reducedSine } from '../geodesic/reduced-latitude'
import { areDegrees, areDoubles, areOnSide } from '../math/contracts'
import { DoubleDouble } from '../math/double-double'
import { laneCount, loadFirsts, loadSeconds, shiftIn, splat } from '../math/lanes'
import { fillSineTable } from '../math/sines'
import { countSolutions } from '../math/work'
import { areaUnder, EdgeEnd, fillEnd } from './excess'

/** Bytes of a position and of a result. */
const POSITION_BYTES: usize = 16
const RESULT_BYTES: usize = 8
/** Results of `generalArea`, one double per lane each. */
const steps = memory.data(16, 16)
const ellipsoidalParts = memory.data(16, 16)

const area = changetype<DoubleDouble>(memory.data(offsetof<DoubleDouble>(), 8))
const evenEnd = changetype<EdgeEnd>(memory.data(offsetof<EdgeEnd>(), 8))
const oddEnd = changetype<EdgeEnd>(memory.data(offsetof<EdgeEnd>(), 8))
const geodesic = changetype<Geodesic>(memory.data(offsetof<Geodesic>(), 8))

/**
 * Computes the areas under the edges of a polyline, east-going positive.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices; below 2 there is no edge
 * @param side 0 measures from the equator, 1 from the north pole, −1 from the south pole; with a pole, no vertex may
 *   lie in the other hemisphere
 * @param out pointer to count − 1 doubles: m²
 */
export function generalAreas(vertices: usize, count: i32, side: i32, out: usize): void {
  areasWithErrors(vertices, count, side, out, 0)
}

/** Computes the areas as `generalAreas` does and stores their rounding errors at `errors`, unless that is 0. */
export function areasWithErrors(vertices: usize, count: i32, side: i32, out: usize, errors: usize): void {
  assert(count >= 0, 'generalAreas: count must not be negative')
  assert(side >= -1 && side <= 1, 'generalAreas: side must be −1, 0 or 1')
  assert(areDegrees(vertices, count), 'generalAreas: vertices must be aligned, finite and in range')
  assert(areOnSide(vertices, count, side), 'generalAreas: vertices must lie on the side of their pole')
  assert(areDoubles(out, <i64>count - 1), 'generalAreas: out must be aligned and in memory')
  fillSineTable()
  if (side == 0) {
    let first = 0
    if (ASC_FEATURE_SIMD) first = edgeAreas<v128>(vertices, 0, count, out, errors, false)
    edgeAreas<f64>(vertices, first, count, out, errors, false)
  } else {
    let first = 0
    if (ASC_FEATURE_SIMD) first = edgeAreas<v128>(vertices, 0, count, out, errors, true)
    edgeAreas<f64>(vertices, first, count, out, errors, true)
  }
  for (let i = 0; i + 1 < count; i++) {
    const areaSoFar = load<f64>(out + <usize>i * RESULT_BYTES)
    if (areaSoFar == areaSoFar) continue // not NaN: the guards passed
    const p = vertices + <usize>i * POSITION_BYTES
    countSolutions(2)
    inverseWithArea(load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16), geodesic)
    store<f64>(out + <usize>i * RESULT_BYTES, side == 0 ? geodesic.S12 : geodesic.P12)
    if (errors != 0) store<f64>(errors + <usize>i * RESULT_BYTES, 0)
  }
}

/**
 * Measures edges from index `first` on while enough vertices remain to fill the lanes. Returns the index of the first
 * unmeasured edge. `fromPole` must be a compile-time constant.
 */
@inline
function edgeAreas<T>(vertices: usize, first: i32, count: i32, out: usize, errors: usize, fromPole: bool): i32 {
  if (first >= count) return first
  const start = vertices + <usize>first * POSITION_BYTES
  let lon = splat<T>(load<f64>(start))
  let lat = splat<T>(load<f64>(start, 8))
  let sbet = reducedSine<T>(lat)
  let cbet = reducedCosine<T>(lat)
  let end1 = evenEnd
  let end2 = oddEnd
  fillEnd(end1, load<f64>(start, 8))
  let i = first
  for (; i + laneCount<T>() < count; i += laneCount<T>()) {
    const p = vertices + <usize>(i + 1) * POSITION_BYTES
    const lon2 = loadFirsts<T>(p, POSITION_BYTES)
    const lat2 = loadSeconds<T>(p, POSITION_BYTES)
    const sbet2 = reducedSine<T>(lat2)
    const cbet2 = reducedCosine<T>(lat2)
    const lon1 = shiftIn<T>(lon, lon2)
    generalArea<T>(
      shiftIn<T>(lat, lat2),
      shiftIn<T>(sbet, sbet2),
      shiftIn<T>(cbet, cbet2),
      lat2,
      sbet2,
      cbet2,
      lonDifference<T>(lon1, lon2),
      lonDifferenceLow<T>(lon1, lon2),
      fromPole,
      steps,
      ellipsoidalParts,
    )
    for (let lane = 0; lane < laneCount<T>(); lane++) {
      const to = vertices + <usize>(i + lane + 1) * POSITION_BYTES
      fillEnd(end2, load<f64>(to, 8))
      const from = load<f64>(to - POSITION_BYTES)
      const result = <usize>(i + lane) * RESULT_BYTES
      const step = load<f64>(steps + <usize>lane * RESULT_BYTES)
      const ellipsoidal = load<f64>(ellipsoidalParts + <usize>lane * RESULT_BYTES)
      const lon12 = lonDifference<f64>(from, load<f64>(to))
      areaUnder(end1, end2, lon12, lonDifferenceLow<f64>(from, load<f64>(to)), step, ellipsoidal, fromPole, area)
      store<f64>(out + result, area.high)
      if (errors != 0) store<f64>(errors + result, area.low)
      const previous = end1
      end1 = end2
      end2 = previous
    }
    lon = lon2
    lat = lat2
    sbet = sbet2
    cbet = cbet2
  }
  return i
}
