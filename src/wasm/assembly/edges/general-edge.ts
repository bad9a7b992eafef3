/**
 * Lengths of edges of any length: by the short series up to LONGEST_DEGREES, else by `generalLength` (no iteration)
 * where its guards pass, else by Karney's inverse. The choice depends only on the two ends of the edge, and one lane
 * gives the same bits as two.
 */

import { Guards, generalLength, lengthFromRecord, prepareRecord, RECORD_BYTES } from '../geodesic/general-length'
import { geodesicLength } from '../geodesic/inverse'
import { lonDifference, lonDifferenceLow, reducedCosine, reducedSine } from '../geodesic/reduced-latitude'
import { areDegrees, areDoubles, isPosition } from '../math/contracts'
import { laneCount, loadFirsts, loadSeconds, shiftIn, splat, storeLanes } from '../math/lanes'
import { fillSineTable } from '../math/sines'
import { countSolutions } from '../math/work'
import { LONGEST_DEGREES, SHORT_DEGREES, shortEdge, squareDegrees } from './short-edge'

/** Bytes of a position, of a pair of positions and of a result. */
const POSITION_BYTES: usize = 16
const PAIR_BYTES: usize = 32
const RESULT_BYTES: usize = 8
/** Metres. Every short edge is shorter than this, because a degree is at most 111.7 km long. */
const SHORT_BELOW_METERS: f64 = LONGEST_DEGREES * 120e3
const shortLength = memory.data(8, 8)

/**
 * Computes the lengths of the edges of a polyline.
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
    const p = vertices + <usize>i * POSITION_BYTES
    remeasure(out + <usize>i * RESULT_BYTES, load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16))
  }
}

/**
 * Computes the distances between pairs of positions.
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
    const p = pairs + <usize>i * PAIR_BYTES
    remeasure(out + <usize>i * RESULT_BYTES, load<f64>(p, 8), load<f64>(p), load<f64>(p, 24), load<f64>(p, 16))
  }
}

/**
 * Returns the length in metres of one edge between positions in degrees, with the same bits as `generalLengths`,
 * `pairLengths` and `lineLength`.
 */
export function fastInverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64): f64 {
  assert(isPosition(lon1, lat1) && isPosition(lon2, lat2), 'fastInverse: positions must be finite and in range')
  if (measureShort(lat1, lon1, lat2, lon2)) return load<f64>(shortLength)
  const length = measureGeneral(lat1, lon1, lat2, lon2, null)
  return length == length ? length : geodesicLength(lat1, lon1, lat2, lon2)
}

/**
 * For tests: returns the length by `generalLength` without any fallback, NaN where a guard fails. Stores the
 * values that the guards compared.
 */
export function guardedInverse(lat1: f64, lon1: f64, lat2: f64, lon2: f64, guards: Guards): f64 {
  assert(isPosition(lon1, lat1) && isPosition(lon2, lat2), 'guardedInverse: positions must be finite and in range')
  return measureGeneral(lat1, lon1, lat2, lon2, guards)
}

@inline
function measureGeneral(lat1: f64, lon1: f64, lat2: f64, lon2: f64, guards: Guards | null): f64 {
  return generalLength<f64>(
    lat1,
    reducedSine<f64>(lat1),
    reducedCosine<f64>(lat1),
    lat2,
    reducedSine<f64>(lat2),
    reducedCosine<f64>(lat2),
    lonDifference<f64>(lon1, lon2),
    lonDifferenceLow<f64>(lon1, lon2),
    guards,
  )
}

/** Measures an edge again by the right method when it is short or when a guard of `generalLength` failed. */
@inline
function remeasure(result: usize, lat1: f64, lon1: f64, lat2: f64, lon2: f64): void {
  const length = load<f64>(result)
  if (length > SHORT_BELOW_METERS) return
  if (measureShort(lat1, lon1, lat2, lon2)) store<f64>(result, load<f64>(shortLength))
  else if (length != length) {
    countSolutions(1)
    store<f64>(result, geodesicLength(lat1, lon1, lat2, lon2))
  }
}

/** Stores the length at `shortLength` and returns true if the edge is short. */
function measureShort(lat1: f64, lon1: f64, lat2: f64, lon2: f64): bool {
  const lon12 = lonDifference<f64>(lon1, lon2) + lonDifferenceLow<f64>(lon1, lon2)
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

/** Records per block: enough to keep the loops busy, few enough for the L1 cache. */
const BLOCK: usize = 8
const records = memory.data(1408, 16) // BLOCK · RECORD_BYTES
const recordsEnd = records + BLOCK * RECORD_BYTES

/**
 * Measures edges from index `first` on while enough vertices remain to fill the lanes. Returns the index of the first
 * unmeasured edge.
 */
function edgeLengths<T>(vertices: usize, first: i32, count: i32, out: usize): i32 {
  if (first >= count) return first
  const start = vertices + <usize>first * POSITION_BYTES
  let lon = splat<T>(load<f64>(start))
  let lat = splat<T>(load<f64>(start, 8))
  let sbet = reducedSine<T>(lat)
  let cbet = reducedCosine<T>(lat)
  let i = first
  while (i + laneCount<T>() < count) {
    const blockStart = i
    let record = records
    for (; record < recordsEnd && i + laneCount<T>() < count; record += RECORD_BYTES, i += laneCount<T>()) {
      const p = vertices + <usize>(i + 1) * POSITION_BYTES
      const lon2 = loadFirsts<T>(p, POSITION_BYTES)
      const lat2 = loadSeconds<T>(p, POSITION_BYTES)
      const sbet2 = reducedSine<T>(lat2)
      const cbet2 = reducedCosine<T>(lat2)
      const lon1 = shiftIn<T>(lon, lon2)
      prepareRecord<T>(
        record,
        shiftIn<T>(lat, lat2),
        shiftIn<T>(sbet, sbet2),
        shiftIn<T>(cbet, cbet2),
        lat2,
        sbet2,
        cbet2,
        lonDifference<T>(lon1, lon2),
        lonDifferenceLow<T>(lon1, lon2),
      )
      lon = lon2
      lat = lat2
      sbet = sbet2
      cbet = cbet2
    }
    storeLengths<T>(record, out + <usize>blockStart * RESULT_BYTES)
  }
  return i
}

/** Runs the second half for the records from `records` to `end` and stores the lengths at `out`. */
@inline
function storeLengths<T>(end: usize, out: usize): void {
  for (let record = records, p = out; record < end; record += RECORD_BYTES, p += <usize>laneCount<T>() * RESULT_BYTES) {
    storeLanes<T>(p, lengthFromRecord<T>(record, null))
  }
}

/**
 * Measures pairs from index `first` on while enough pairs remain to fill the lanes. Returns the index of the first
 * unmeasured pair.
 */
function distances<T>(pairs: usize, first: i32, count: i32, out: usize): i32 {
  let i = first
  while (i + laneCount<T>() <= count) {
    const blockStart = i
    let record = records
    for (; record < recordsEnd && i + laneCount<T>() <= count; record += RECORD_BYTES, i += laneCount<T>()) {
      const p = pairs + <usize>i * PAIR_BYTES
      const lon1 = loadFirsts<T>(p, PAIR_BYTES)
      const lat1 = loadSeconds<T>(p, PAIR_BYTES)
      const lon2 = loadFirsts<T>(p + POSITION_BYTES, PAIR_BYTES)
      const lat2 = loadSeconds<T>(p + POSITION_BYTES, PAIR_BYTES)
      prepareRecord<T>(
        record,
        lat1,
        reducedSine<T>(lat1),
        reducedCosine<T>(lat1),
        lat2,
        reducedSine<T>(lat2),
        reducedCosine<T>(lat2),
        lonDifference<T>(lon1, lon2),
        lonDifferenceLow<T>(lon1, lon2),
      )
    }
    storeLengths<T>(record, out + <usize>blockStart * RESULT_BYTES)
  }
  return i
}
