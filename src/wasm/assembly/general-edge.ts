/**
 * Lengths of edges of any length: by the series of short edges up to LONGEST_DEGREES, else by the kernel without iteration
 * where its guards hold, else by Karney's inverse. Which of them measures an edge depends on its two ends alone, and one lane
 * gives the same bits as two.
 */
import { areDegrees, areDoubles, isPosition } from './contracts'
import { generalLength, lengthFrom, lookAt, RECORD } from './general-length'
import { inverse } from './inverse'
import { lanesOf, loadFirsts, loadSeconds, shiftIn, splat, storeLanes } from './lanes'
import { reducedCosine, reducedSine, turnLow, turnOf } from './reduced-latitude'
import { LONGEST_DEGREES, SHORT_DEGREES, shortEdge, squareDegrees } from './short-edge'
import { fillSineTable } from './sine-table'

/** Bytes of a position, of a pair of them, of a result. */
const POSITION: usize = 16
const PAIR: usize = 32
const RESULT: usize = 8
/** Metres that no short edge reaches: a degree is at most 111.7 km long. */
const NOT_SHORT: f64 = LONGEST_DEGREES * 120e3
const shortLength = memory.data(8, 8)

/**
 * Lengths of the edges of a polyline.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices; below 2 there is no edge
 * @param out pointer to count − 1 doubles: metres
 */
export function generalLengths(vertices: usize, count: i32, out: usize): void {
  assert(count >= 0, 'generalLengths: count must not be negative')
  assert(areDegrees(vertices, count), 'generalLengths: vertices must be aligned, finite and in range')
  assert(areDoubles(out, <i64>count - 1), 'generalLengths: out must be aligned and in memory')
  let first = 0
  if (ASC_FEATURE_SIMD) first = edgeLengths<v128>(vertices, 0, count, out)
  edgeLengths<f64>(vertices, first, count, out)
  for (let i = 0; i + 1 < count; i++) {
    const p = vertices + <usize>i * POSITION
    settle(out + <usize>i * RESULT, load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16))
  }
}

/**
 * Distances of pairs of positions.
 *
 * @param pairs pointer to interleaved lon1, lat1, lon2, lat2 in degrees
 * @param count pairs
 * @param out pointer to count doubles: metres
 */
export function pairLengths(pairs: usize, count: i32, out: usize): void {
  assert(count >= 0, 'pairLengths: count must not be negative')
  assert(areDegrees(pairs, 2 * <i64>count), 'pairLengths: pairs must be aligned, finite and in range')
  assert(areDoubles(out, count), 'pairLengths: out must be aligned and in memory')
  let first = 0
  if (ASC_FEATURE_SIMD) first = distances<v128>(pairs, 0, count, out)
  distances<f64>(pairs, first, count, out)
  for (let i = 0; i < count; i++) {
    const p = pairs + <usize>i * PAIR
    settle(out + <usize>i * RESULT, load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16))
  }
}

/**
 * Length in metres of one edge between positions in degrees: the bits that `generalLengths`, `pairLengths` and `lineLength`
 * give.
 */
export function fastInverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  assert(isPosition(lon1, lat1) && isPosition(lon2, lat2), 'fastInverse: positions must be finite and in range')
  if (measureShort(lat1, lon1, lat2, lon2)) return load<f64>(shortLength)
  const length = oneEdge(lat1, lon1, lat2, lon2, false)
  return length == length ? length : inverse(lat1, lon1, lat2, lon2)
}

/** The same by the kernel without iteration alone, for tests: NaN where one of its guards fails. Leaves what they saw. */
export function guardedInverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  assert(isPosition(lon1, lat1) && isPosition(lon2, lat2), 'guardedInverse: positions must be finite and in range')
  return oneEdge(lat1, lon1, lat2, lon2, true)
}

@inline
function oneEdge(lat1: f64, lon1: f64, lat2: f64, lon2: f64, reports: bool): f64 {
  return generalLength<f64>(
    lat1, reducedSine<f64>(lat1), reducedCosine<f64>(lat1), lat2, reducedSine<f64>(lat2), reducedCosine<f64>(lat2),
    turnOf<f64>(lon1, lon2), turnLow<f64>(lon1, lon2), reports,
  )
}

/** Measures again what the kernel refused and what is short. */
@inline
function settle(result: usize, lat1: f64, lon1: f64, lat2: f64, lon2: f64): void {
  const length = load<f64>(result)
  if (length > NOT_SHORT) return
  if (measureShort(lat1, lon1, lat2, lon2)) store<f64>(result, load<f64>(shortLength))
  else if (length != length) store<f64>(result, inverse(lat1, lon1, lat2, lon2))
}

/** Whether an edge is short: its length is at `shortLength` then. */
function measureShort(lat1: f64, lon1: f64, lat2: f64, lon2: f64): bool {
  const lon12 = turnOf<f64>(lon1, lon2) + turnLow<f64>(lon1, lon2)
  const square = squareDegrees<f64>(lon12, lat1, lat2)
  if (square > LONGEST_DEGREES * LONGEST_DEGREES) return false
  fillSineTable()
  if (square > SHORT_DEGREES * SHORT_DEGREES) {
    shortEdge<f64>(lon12, lat1, lat2, 0, 0, 0, false, true, shortLength, shortLength)
  } else {
    shortEdge<f64>(lon12, lat1, lat2, 0, 0, 0, false, false, shortLength, shortLength)
  }
  return true
}

/** Records at a time: enough for the loops, few enough for the fastest cache. */
const BLOCK: usize = 8
const records = memory.data(1408, 16) // BLOCK · RECORD
const recordsEnd = records + BLOCK * RECORD

/** Measures edges from the one numbered `first`; returns the one it stopped before, for want of vertices to fill the lanes. */
function edgeLengths<T>(vertices: usize, first: i32, count: i32, out: usize): i32 {
  if (first >= count) return first
  const start = vertices + <usize>first * POSITION
  let lon = splat<T>(load<f64>(start))
  let lat = splat<T>(load<f64>(start, 8))
  let sbet = reducedSine<T>(lat)
  let cbet = reducedCosine<T>(lat)
  let i = first
  while (i + lanesOf<T>() < count) {
    const blockStart = i
    let record = records
    for (; record < recordsEnd && i + lanesOf<T>() < count; record += RECORD, i += lanesOf<T>()) {
      const p = vertices + <usize>(i + 1) * POSITION
      const lon2 = loadFirsts<T>(p, POSITION)
      const lat2 = loadSeconds<T>(p, POSITION)
      const sbet2 = reducedSine<T>(lat2)
      const cbet2 = reducedCosine<T>(lat2)
      const lon1 = shiftIn<T>(lon, lon2)
      lookAt<T>(
        record, shiftIn<T>(lat, lat2), shiftIn<T>(sbet, sbet2), shiftIn<T>(cbet, cbet2), lat2, sbet2, cbet2,
        turnOf<T>(lon1, lon2), turnLow<T>(lon1, lon2),
      )
      lon = lon2
      lat = lat2
      sbet = sbet2
      cbet = cbet2
    }
    storeLengths<T>(record, out + <usize>blockStart * RESULT)
  }
  return i
}

/** Second half of the edges whose records end at `end`. */
@inline
function storeLengths<T>(end: usize, out: usize): void {
  for (let record = records, p = out; record < end; record += RECORD, p += <usize>lanesOf<T>() * RESULT) {
    storeLanes<T>(p, lengthFrom<T>(record, false))
  }
}

/** Measures pairs from the one numbered `first`; returns the one it stopped before, for want of pairs to fill the lanes. */
function distances<T>(pairs: usize, first: i32, count: i32, out: usize): i32 {
  let i = first
  while (i + lanesOf<T>() <= count) {
    const blockStart = i
    let record = records
    for (; record < recordsEnd && i + lanesOf<T>() <= count; record += RECORD, i += lanesOf<T>()) {
      const p = pairs + <usize>i * PAIR
      const lon1 = loadFirsts<T>(p, PAIR)
      const lat1 = loadSeconds<T>(p, PAIR)
      const lon2 = loadFirsts<T>(p + POSITION, PAIR)
      const lat2 = loadSeconds<T>(p + POSITION, PAIR)
      lookAt<T>(
        record, lat1, reducedSine<T>(lat1), reducedCosine<T>(lat1), lat2, reducedSine<T>(lat2), reducedCosine<T>(lat2),
        turnOf<T>(lon1, lon2), turnLow<T>(lon1, lon2),
      )
    }
    storeLengths<T>(record, out + <usize>blockStart * RESULT)
  }
  return i
}
