/**
 * Areas under edges of any length: by the kernel without iteration where its guards hold, else by Karney's inverse. Which of
 * them measures an edge depends on its two ends alone, and one lane gives the same bits as two.
 */
import { areDegrees, areDoubles, areOnSide } from './contracts'
import { area, areaLow, areaUnder, moveTo } from './excess'
import { generalArea } from './general-area'
import { inverseWithArea, P12, S12 } from './inverse'
import { lanesOf, loadFirsts, loadSeconds, shiftIn, splat } from './lanes'
import { reducedCosine, reducedSine, turnLow, turnOf } from './reduced-latitude'
import { fillSineTable } from './sine-table'

/** Bytes of a position, of a result. */
const POSITION: usize = 16
const RESULT: usize = 8
/** What `generalArea` leaves of as many edges as there are lanes. */
const steps = memory.data(16, 16)
const ellipsoidals = memory.data(16, 16)

/**
 * Areas under the edges of a polyline, east-going positive.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices; below 2 there is no edge
 * @param side 0 measures from the equator; 1 from the north pole and −1 from the south pole, where no vertex may lie in the
 *   other hemisphere
 * @param out pointer to count − 1 doubles: m²
 */
export function generalAreas(vertices: usize, count: i32, side: i32, out: usize): void {
  areasInTwo(vertices, count, side, out, 0)
}

/** The same with what rounding the areas lost, at `lows` unless that is 0. */
export function areasInTwo(vertices: usize, count: i32, side: i32, out: usize, lows: usize): void {
  assert(count >= 0, 'generalAreas: count must not be negative')
  assert(side >= -1 && side <= 1, 'generalAreas: side must be −1, 0 or 1')
  assert(areDegrees(vertices, count), 'generalAreas: vertices must be aligned, finite and in range')
  assert(areOnSide(vertices, count, side), 'generalAreas: vertices must lie on the side of their pole')
  assert(areDoubles(out, <i64>count - 1), 'generalAreas: out must be aligned and in memory')
  fillSineTable()
  if (side == 0) {
    let first = 0
    if (ASC_FEATURE_SIMD) first = edgeAreas<v128>(vertices, 0, count, out, lows, false)
    edgeAreas<f64>(vertices, first, count, out, lows, false)
  } else {
    let first = 0
    if (ASC_FEATURE_SIMD) first = edgeAreas<v128>(vertices, 0, count, out, lows, true)
    edgeAreas<f64>(vertices, first, count, out, lows, true)
  }
  for (let i = 0; i + 1 < count; i++) {
    const area = load<f64>(out + <usize>i * RESULT)
    if (area == area) continue
    const p = vertices + <usize>i * POSITION
    inverseWithArea(load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16))
    store<f64>(out + <usize>i * RESULT, side == 0 ? S12 : P12)
    if (lows != 0) store<f64>(lows + <usize>i * RESULT, 0)
  }
}

/**
 * Measures edges from the one numbered `first`; returns the one it stopped before, for want of vertices to fill the lanes.
 * `fromPole` is a constant.
 */
@inline
function edgeAreas<T>(vertices: usize, first: i32, count: i32, out: usize, lows: usize, fromPole: bool): i32 {
  if (first >= count) return first
  const start = vertices + <usize>first * POSITION
  let lon = splat<T>(load<f64>(start))
  let lat = splat<T>(load<f64>(start, 8))
  let sbet = reducedSine<T>(lat)
  let cbet = reducedCosine<T>(lat)
  moveTo(load<f64>(start, 8))
  let i = first
  for (; i + lanesOf<T>() < count; i += lanesOf<T>()) {
    const p = vertices + <usize>(i + 1) * POSITION
    const lon2 = loadFirsts<T>(p, POSITION)
    const lat2 = loadSeconds<T>(p, POSITION)
    const sbet2 = reducedSine<T>(lat2)
    const cbet2 = reducedCosine<T>(lat2)
    const lon1 = shiftIn<T>(lon, lon2)
    generalArea<T>(
      shiftIn<T>(lat, lat2), shiftIn<T>(sbet, sbet2), shiftIn<T>(cbet, cbet2), lat2, sbet2, cbet2,
      turnOf<T>(lon1, lon2), turnLow<T>(lon1, lon2), fromPole, steps, ellipsoidals,
    )
    for (let lane = 0; lane < lanesOf<T>(); lane++) {
      const to = vertices + <usize>(i + lane + 1) * POSITION
      moveTo(load<f64>(to, 8))
      const from = load<f64>(to - POSITION)
      const result = <usize>(i + lane) * RESULT
      const step = load<f64>(steps + <usize>lane * RESULT)
      const ellipsoidal = load<f64>(ellipsoidals + <usize>lane * RESULT)
      areaUnder(turnOf<f64>(from, load<f64>(to)), turnLow<f64>(from, load<f64>(to)), step, ellipsoidal, fromPole)
      store<f64>(out + result, area)
      if (lows != 0) store<f64>(lows + result, areaLow)
    }
    lon = lon2
    lat = lat2
    sbet = sbet2
    cbet = cbet2
  }
  return i
}
