/**
 * Sums over the edges of a line or a ring: lengths, areas and differences of longitude.
 *
 * Each edge selects its method by its two ends only: the short series up to SHORT_DEGREES, the short series with higher
 * terms up to LONGEST_DEGREES, the general method beyond.
 *
 * The order of all additions depends only on the number of vertices, so the SIMD and the scalar build give the same
 * bits. Edges are summed in pairs: even and odd edges have separate partial sums, in two lanes or two variables. After
 * every BLOCK edges the partial sums are added to compensated sums (with `sumError`) and restart at 0.
 */
import { longitudeDifference, longitudeDifferenceLow, sumError } from '../math/math'
import { fillSineTable } from '../math/sines'
import { countChecks } from '../math/work'
import { areasWithErrors } from './general-areas'
import { generalLengths } from './general-edge'
import { areShort, LONGEST_DEGREES, Parallel, SHORT_DEGREES, setParallel, shortEdge, squareDegrees } from './short-edge'

/** Edges per block. A block has two uncompensated partial sums, so each adds at most 64 numbers. */
const BLOCK: i32 = 128

/** Work of the length and of the area of one general edge, in box checks. */
const LENGTH_CHECKS: i32 = 4
const AREA_CHECKS: i32 = 8

/** Where areas under general edges are measured from: the equator (NO_POLE) or a pole. */
export const NO_POLE: i32 = 0
export const NORTH: i32 = 1
export const SOUTH: i32 = -1
/** Beyond this latitude less of the hemisphere's area lies towards the pole than towards the equator. */
const POLAR_DEGREES: f64 = 30

/** A line or a ring, and the sums over its edges. …Low is the second part of a sum. */
@unmanaged
export class EdgeSums {
  /** Pointer to interleaved lon, lat in degrees, and number of vertices. */
  vertices: usize
  count: i32
  /** Whether to sum `strips` and `areas` too. */
  wantsArea: bool
  /** Metres. */
  length: f64
  lengthLow: f64
  /** Σ areas between the short edges and `parallel`, m², east-going positive. */
  strips: f64
  stripsLow: f64
  /** Σ S12 or P12 of the general edges, m², and Σ of their differences of longitude, degrees. */
  areas: f64
  areasLow: f64
  lonSum: f64
  lonSumLow: f64
  /** The parallel of the first vertex. */
  parallel: Parallel
  /** The pole that P12 is measured from, or NO_POLE for S12. Decided when the first general edges are measured. */
  side: i32
  isSideKnown: bool
  /** How often a closed line winds around the axis, east-going positive. */
  winding: i32
  /** The run of consecutive general edges that `flush` will measure: its first vertex and number of edges. */
  runStart: usize
  runEdges: i32
}

/** Results of two edges: two lengths, then two areas. */
const slot = memory.data(32, 16)
/** Results of the general edges in `flush`: a table of lengths, one of areas, one of the rounding errors of the areas. */
const generalResults = memory.data(3072, 16) // 24 · BLOCK
const generalStrips = generalResults + ((<usize>BLOCK) << 3)
const generalStripsLow = generalStrips + ((<usize>BLOCK) << 3)

const firstParallel = changetype<Parallel>(memory.data(offsetof<Parallel>(), 8))

/**
 * Fills `sums`.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 */
@inline
export function sumEdges(sums: EdgeSums, vertices: usize, count: i32, wantsArea: bool): void {
  fillSineTable()
  memory.fill(changetype<usize>(sums), 0, offsetof<EdgeSums>())
  sums.vertices = vertices
  sums.count = count
  sums.wantsArea = wantsArea
  sums.parallel = firstParallel
  if (wantsArea) setParallel(firstParallel, load<f64>(vertices, 8))
  const end = vertices + ((<usize>(count - 1)) << 4)
  let p = vertices
  while (p < end) {
    const blockEnd = min(end, p + ((<usize>BLOCK) << 4))
    if (ASC_FEATURE_SIMD) addBlockOfLanes(sums, p, blockEnd, wantsArea)
    else addBlock(sums, p, blockEnd, wantsArea)
    p = blockEnd
  }
  flush(sums)
  sums.length += sums.lengthLow
}

@inline
function addBlockOfLanes(sums: EdgeSums, p: usize, end: usize, wantsArea: bool): void {
  const head = f64x2.splat(sums.parallel.head)
  const tail = f64x2.splat(sums.parallel.tail)
  const bulge = f64x2.splat(sums.parallel.bulge)
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
      addEdge(sums, p, 0, wantsArea)
      addEdge(sums, p + 16, 8, wantsArea)
    }
    lengthSum = f64x2.add(lengthSum, v128.load(slot))
    if (wantsArea) stripSum = f64x2.add(stripSum, v128.load(slot, 16))
    v0 = v2
    p += 32
  }
  let length0 = f64x2.extract_lane(lengthSum, 0)
  let strip0 = f64x2.extract_lane(stripSum, 0)
  if (p < end) {
    addEdge(sums, p, 0, wantsArea)
    length0 += load<f64>(slot)
    if (wantsArea) strip0 += load<f64>(slot, 16)
  }
  addToLength(sums, length0)
  addToLength(sums, f64x2.extract_lane(lengthSum, 1))
  if (wantsArea) {
    addToStrips(sums, strip0)
    addToStrips(sums, f64x2.extract_lane(stripSum, 1))
  }
}

@inline
function addBlock(sums: EdgeSums, p: usize, end: usize, wantsArea: bool): void {
  let length0: f64 = 0
  let length1: f64 = 0
  let strip0: f64 = 0
  let strip1: f64 = 0
  const last = end - 16
  while (p < last) {
    addEdge(sums, p, 0, wantsArea)
    addEdge(sums, p + 16, 8, wantsArea)
    length0 += load<f64>(slot)
    length1 += load<f64>(slot, 8)
    if (wantsArea) {
      strip0 += load<f64>(slot, 16)
      strip1 += load<f64>(slot, 24)
    }
    p += 32
  }
  if (p < end) {
    addEdge(sums, p, 0, wantsArea)
    length0 += load<f64>(slot)
    if (wantsArea) strip0 += load<f64>(slot, 16)
  }
  addToLength(sums, length0)
  addToLength(sums, length1)
  if (wantsArea) {
    addToStrips(sums, strip0)
    addToStrips(sums, strip1)
  }
}

/**
 * Stores the length and area of one edge in the slot and adds to `winding`. A general edge stores 0 and is queued for
 * `flush`.
 *
 * @param lane byte offset of the lane in the slot: 0 or 8
 */
function addEdge(sums: EdgeSums, p: usize, lane: usize, wantsArea: bool): void {
  const lon1 = load<f64>(p)
  const lat1 = load<f64>(p, 8)
  const lon2 = load<f64>(p, 16)
  const lat2 = load<f64>(p, 24)
  let lon12 = lon2 - lon1
  const wraps = edgeWinding(lon1, lon2)
  if (wraps != 0) {
    sums.winding += wraps
    lon12 = longitudeDifference(lon1, lon2)
  }
  const square = squareDegrees<f64>(lon12, lat1, lat2)
  const lengths = slot + lane
  const strips = slot + 16 + lane
  const from = sums.parallel
  if (square <= SHORT_DEGREES * SHORT_DEGREES) {
    shortEdge<f64>(lon12, lat1, lat2, from.head, from.tail, from.bulge, wantsArea, false, lengths, strips)
  } else if (square <= LONGEST_DEGREES * LONGEST_DEGREES) {
    shortEdge<f64>(lon12, lat1, lat2, from.head, from.tail, from.bulge, wantsArea, true, lengths, strips)
  } else {
    store<f64>(lengths, 0)
    store<f64>(strips, 0)
    if (sums.runEdges == BLOCK || p != sums.runStart + ((<usize>sums.runEdges) << 4)) {
      flush(sums)
      sums.runStart = p
    }
    sums.runEdges++
  }
}

/**
 * Returns what an edge adds to the winding number, east-going positive. The differences lon2 − lon1 around a ring sum to
 * 0, so the winding number counts the reductions of a difference by 360°. An edge between two longitudes of one pole
 * counts too: S12 includes the wedge between them, and the winding must match it.
 */
export function edgeWinding(lon1: f64, lon2: f64): i32 {
  const lon12 = lon2 - lon1
  if (Math.abs(lon12) < 180) return 0
  return <i32>nearest<f64>((longitudeDifference(lon1, lon2) - lon12) / 360)
}

/** Measures the queued general edges and adds them to the sums. */
function flush(sums: EdgeSums): void {
  const runEdges = sums.runEdges
  const runStart = sums.runStart
  if (runEdges == 0) return
  if (sums.wantsArea && !sums.isSideKnown) {
    sums.side = polarSide(sums.vertices, sums.count)
    sums.isSideKnown = true
  }
  countChecks(runEdges * (sums.wantsArea ? LENGTH_CHECKS + AREA_CHECKS : LENGTH_CHECKS))
  generalLengths(runStart, runEdges + 1, generalResults)
  if (sums.wantsArea) areasWithErrors(runStart, runEdges + 1, sums.side, generalStrips, generalStripsLow)
  for (let i = 0; i < runEdges; i++) {
    addToLength(sums, load<f64>(generalResults + ((<usize>i) << 3)))
    if (!sums.wantsArea) continue
    const p = runStart + ((<usize>i) << 4)
    const strip = load<f64>(generalStrips + ((<usize>i) << 3))
    const areas = sums.areas + strip
    sums.areasLow += sumError(sums.areas, strip, areas) + load<f64>(generalStripsLow + ((<usize>i) << 3))
    sums.areas = areas
    const lon12 = longitudeDifference(load<f64>(p), load<f64>(p, 16))
    const lonSum = sums.lonSum + lon12
    sums.lonSumLow += sumError(sums.lonSum, lon12, lonSum) + longitudeDifferenceLow(load<f64>(p), load<f64>(p, 16))
    sums.lonSum = lonSum
  }
  sums.runEdges = 0
}

function addToLength(sums: EdgeSums, x: f64): void {
  const length = sums.length + x
  sums.lengthLow += sumError(sums.length, x, length)
  sums.length = length
}

function addToStrips(sums: EdgeSums, x: f64): void {
  const strips = sums.strips + x
  sums.stripsLow += sumError(sums.strips, x, strips)
  sums.strips = strips
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
