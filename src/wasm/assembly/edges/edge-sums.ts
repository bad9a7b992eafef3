/**
 * Sums over the edges of a line or a ring: lengths, areas and differences of longitude.
 *
 * Each edge selects its method by its two ends only: the short series up to SHORT_DEGREES, the short series with higher
 * terms up to LONGEST_DEGREES, the general method beyond.
 *
 * The order of all additions depends only on the number of vertices, so the SIMD and the scalar build give the same
 * bits. Edges are summed in pairs: even and odd edges have separate partial sums, in two lanes or two variables. After
 * every BLOCK edges the partial sums are added to compensated sums (with `twoSum`) and restart at 0.
 */
import { areasWithErrors } from './general-areas'
import { generalLengths } from './general-edge'
import { high, longitudeDifference, low, twoSum } from '../math/math'
import * as edge from './short-edge'
import { LONGEST_DEGREES, SHORT_DEGREES, areShort, shortEdge, squareDegrees } from './short-edge'
import { fillSineTable } from '../math/sines'

/** Edges per block. A block has two uncompensated partial sums, so each adds at most 64 numbers. */
const BLOCK: i32 = 128

/** Where areas under general edges are measured from: the equator (NO_POLE) or a pole. */
export const NO_POLE: i32 = 0
export const NORTH: i32 = 1
export const SOUTH: i32 = -1
/** Beyond this latitude less of the hemisphere's area lies towards the pole than towards the equator. */
const POLAR_DEGREES: f64 = 30

/** Results of `sumEdges`: Σ lengths, metres. */
export let length: f64 = 0
/** Σ areas between the short edges and the parallel of the first vertex, m², east-going positive; plus `stripsLow`. */
export let strips: f64 = 0
export let stripsLow: f64 = 0
/**
 * Σ S12 or P12 of the general edges, m², and Σ of their differences of longitude, degrees; …Low is the second part of
 * each sum.
 */
export let areas: f64 = 0
export let areasLow: f64 = 0
export let lonSum: f64 = 0
export let lonSumLow: f64 = 0
/** The pole that P12 is measured from, or NO_POLE for S12. Decided when the first general edges are measured. */
export let side: i32 = NO_POLE
/** How often a closed line winds around the axis, east-going positive. */
export let winding: i32 = 0

let lengthLow: f64 = 0
export let isSideKnown: bool = false
// The run of consecutive general edges that `flush` will measure: pointer to its first vertex, and number of edges.
let runStart: usize = 0
let runEdges: i32 = 0

/** Results of two edges: two lengths, then two areas. */
const slot = memory.data(32, 16)
/** Results of the general edges in `flush`: a table of lengths, one of areas, one of the rounding errors of the areas. */
const generalResults = memory.data(3072, 16) // 24 · BLOCK
const generalStrips = generalResults + ((<usize>BLOCK) << 3)
const generalStripsLow = generalStrips + ((<usize>BLOCK) << 3)

/**
 * Sets the results above.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 * @param wantsArea whether to sum `strips` and `areas` too
 */
@inline
export function sumEdges(vertices: usize, count: i32, wantsArea: bool): void {
  fillSineTable()
  length = 0
  lengthLow = 0
  strips = 0
  stripsLow = 0
  areas = 0
  areasLow = 0
  lonSum = 0
  lonSumLow = 0
  winding = 0
  side = NO_POLE
  isSideKnown = false
  runEdges = 0
  if (wantsArea) edge.setReference(load<f64>(vertices, 8))
  const end = vertices + ((<usize>(count - 1)) << 4)
  let p = vertices
  while (p < end) {
    const blockEnd = min(end, p + (<usize>BLOCK << 4))
    if (ASC_FEATURE_SIMD) addBlockOfLanes(p, blockEnd, vertices, count, wantsArea)
    else addBlock(p, blockEnd, vertices, count, wantsArea)
    p = blockEnd
  }
  flush(vertices, count, wantsArea)
  length += lengthLow
}

@inline
function addBlockOfLanes(p: usize, end: usize, vertices: usize, count: i32, wantsArea: bool): void {
  const head = f64x2.splat(edge.head)
  const tail = f64x2.splat(edge.tail)
  const bulge = f64x2.splat(edge.bulge)
  let lengthSum = f64x2.splat(0)
  let stripSum = f64x2.splat(0)
  let v0 = v128.load(p)
  const last = end - 16
  while (p < last) {
    const v1 = v128.load(p, 16)
    const v2 = v128.load(p, 32)
    const lon12 = f64x2.sub(v128.shuffle<f64>(v1, v2, 0, 2), v128.shuffle<f64>(v0, v1, 0, 2))
    const lat1 = v128.shuffle<f64>(v0, v1, 1, 3)
    const lat2 = v128.shuffle<f64>(v1, v2, 1, 3)
    if (areShort<v128>(lon12, lat1, lat2)) {
      shortEdge<v128>(lon12, lat1, lat2, head, tail, bulge, wantsArea, false, slot, slot + 16)
    } else {
      addEdge(p, 0, vertices, count, wantsArea)
      addEdge(p + 16, 8, vertices, count, wantsArea)
    }
    lengthSum = f64x2.add(lengthSum, v128.load(slot))
    if (wantsArea) stripSum = f64x2.add(stripSum, v128.load(slot, 16))
    v0 = v2
    p += 32
  }
  let length0 = f64x2.extract_lane(lengthSum, 0)
  let strip0 = f64x2.extract_lane(stripSum, 0)
  if (p < end) {
    addEdge(p, 0, vertices, count, wantsArea)
    length0 += load<f64>(slot)
    if (wantsArea) strip0 += load<f64>(slot, 16)
  }
  addToLength(length0)
  addToLength(f64x2.extract_lane(lengthSum, 1))
  if (wantsArea) {
    addToStrips(strip0)
    addToStrips(f64x2.extract_lane(stripSum, 1))
  }
}

@inline
function addBlock(p: usize, end: usize, vertices: usize, count: i32, wantsArea: bool): void {
  let length0: f64 = 0
  let length1: f64 = 0
  let strip0: f64 = 0
  let strip1: f64 = 0
  const last = end - 16
  while (p < last) {
    addEdge(p, 0, vertices, count, wantsArea)
    addEdge(p + 16, 8, vertices, count, wantsArea)
    length0 += load<f64>(slot)
    length1 += load<f64>(slot, 8)
    if (wantsArea) {
      strip0 += load<f64>(slot, 16)
      strip1 += load<f64>(slot, 24)
    }
    p += 32
  }
  if (p < end) {
    addEdge(p, 0, vertices, count, wantsArea)
    length0 += load<f64>(slot)
    if (wantsArea) strip0 += load<f64>(slot, 16)
  }
  addToLength(length0)
  addToLength(length1)
  if (wantsArea) {
    addToStrips(strip0)
    addToStrips(strip1)
  }
}

/**
 * Stores the length and area of one edge in the slot and adds to `winding`. A general edge stores 0 and is queued for
 * `flush`.
 *
 * @param lane byte offset of the lane in the slot: 0 or 8
 */
function addEdge(p: usize, lane: usize, vertices: usize, count: i32, wantsArea: bool): void {
  const lon1 = load<f64>(p)
  const lat1 = load<f64>(p, 8)
  const lon2 = load<f64>(p, 16)
  const lat2 = load<f64>(p, 24)
  let lon12 = lon2 - lon1
  const wraps = edgeWinding(lon1, lon2)
  if (wraps != 0) {
    winding += wraps
    lon12 = high
  }
  const square = squareDegrees<f64>(lon12, lat1, lat2)
  if (square <= SHORT_DEGREES * SHORT_DEGREES) {
    shortEdge<f64>(
      lon12, lat1, lat2, edge.head, edge.tail, edge.bulge, wantsArea, false, slot + lane, slot + 16 + lane,
    )
  } else if (square <= LONGEST_DEGREES * LONGEST_DEGREES) {
    shortEdge<f64>(lon12, lat1, lat2, edge.head, edge.tail, edge.bulge, wantsArea, true, slot + lane, slot + 16 + lane)
  } else {
    store<f64>(slot + lane, 0)
    store<f64>(slot + lane, 0, 16)
    if (runEdges == BLOCK || p != runStart + ((<usize>runEdges) << 4)) {
      flush(vertices, count, wantsArea)
      runStart = p
    }
    runEdges++
  }
}

/**
 * Returns what an edge adds to the winding number, east-going positive, and leaves the reduced difference of longitude
 * in `high` when that is not 0. The differences lon2 − lon1 around a ring sum to 0, so the ring winds as often as
 * differences are reduced by 360°. An edge between two longitudes of one pole counts too: S12 includes the wedge
 * between them, and the winding must match it.
 */
export function edgeWinding(lon1: f64, lon2: f64): i32 {
  const lon12 = lon2 - lon1
  if (Math.abs(lon12) < 180) return 0
  longitudeDifference(lon1, lon2)
  return <i32>nearest<f64>((high - lon12) / 360)
}

/** Measures the queued general edges and adds them to the sums. */
function flush(vertices: usize, count: i32, wantsArea: bool): void {
  if (runEdges == 0) return
  if (wantsArea && !isSideKnown) {
    side = polarSide(vertices, count)
    isSideKnown = true
  }
  generalLengths(runStart, runEdges + 1, generalResults)
  if (wantsArea) areasWithErrors(runStart, runEdges + 1, side, generalStrips, generalStripsLow)
  for (let i = 0; i < runEdges; i++) {
    addToLength(load<f64>(generalResults + ((<usize>i) << 3)))
    if (!wantsArea) continue
    const p = runStart + ((<usize>i) << 4)
    twoSum(areas, load<f64>(generalStrips + ((<usize>i) << 3)))
    areas = high
    areasLow += low + load<f64>(generalStripsLow + ((<usize>i) << 3))
    longitudeDifference(load<f64>(p), load<f64>(p, 16))
    const lon12Low = low
    twoSum(lonSum, high)
    lonSum = high
    lonSumLow += low + lon12Low
  }
  runEdges = 0
}

function addToLength(x: f64): void {
  twoSum(length, x)
  length = high
  lengthLow += low
}

function addToStrips(x: f64): void {
  twoSum(strips, x)
  strips = high
  stripsLow += low
}

/**
 * Returns the pole to measure areas from: the pole of the hemisphere if all vertices lie beyond 30° in it, else NO_POLE
 * (the equator).
 *
 * This keeps the terms of the sum as small as possible. Measured from the equator, a ring of 80 km at 85° lost 10⁻³ m²
 * to cancellation, and rings around a pole up to 0.01 m².
 */
export function polarSide(vertices: usize, count: i32): i32 {
  let lowest: f64 = 90
  let highest: f64 = -90
  for (let i = 0; i < count; i++) {
    const lat = load<f64>(vertices + ((<usize>i) << 4), 8)
    lowest = Math.min(lowest, lat)
    highest = Math.max(highest, lat)
  }
  return lowest > POLAR_DEGREES ? NORTH : highest < -POLAR_DEGREES ? SOUTH : NO_POLE
}
