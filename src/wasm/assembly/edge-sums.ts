/**
 * Sums over the edges of a line or a ring: lengths, areas and turns, by the kernel that each edge needs.
 *
 * An edge decides for itself: up to SHORT_DEGREES it is short, up to LONGEST_DEGREES short with more terms, else general.
 * Edges are taken two at a time, an even and an odd one, which two lanes or two registers hold; their sums start anew every
 * BLOCK edges and go into compensated ones, so the order of all additions follows from the number of vertices alone.
 */
import { areasInTwo } from './general-areas'
import { generalLengths } from './general-edge'
import { high, longitudeDifference, low, twoSum } from './math'
import * as edge from './short-edge'
import { areShort, LONGEST_DEGREES, SHORT_DEGREES, shortEdge, squareDegrees } from './short-edge'
import { fillSineTable } from './sine-table'

/** Edges whose sums are added without the rounding errors: at most 64 numbers to a sum. */
const BLOCK: i32 = 128

/** What to measure from where edges are general: the equator or the pole of a side. */
export const NO_POLE: i32 = 0
export const NORTH: i32 = 1
export const SOUTH: i32 = -1
/** Beyond this latitude a position has less of the hemisphere between itself and the pole than towards the equator. */
const POLAR_DEGREES: f64 = 30

/** Results of `sumEdges`: Σ lengths, metres. */
export let length: f64 = 0
/** Σ areas between the short edges and the parallel of the first vertex, m², east-going positive. */
export let strips: f64 = 0
export let stripsLow: f64 = 0
/** Σ S12 or P12 of the general edges, m², and Σ of their differences of longitude, degrees. */
export let areas: f64 = 0
export let areasLow: f64 = 0
export let turn: f64 = 0
export let turnLow: f64 = 0
/** The pole that P12 is measured from, NO_POLE for S12: decided when there is a general edge. */
export let side: i32 = NO_POLE
/** How often the line winds around the axis if it is closed, east-going positive. */
export let winding: i32 = 0

let lengthLow: f64 = 0
export let isSideKnown: bool = false
// The general edges that wait for `flush`: vertices of the first one, and how many.
let runStart: usize = 0
let runEdges: i32 = 0

/** Two lengths and two areas. */
const slot = memory.data(32, 16)
/** Doubles for each edge that waits: its length, its area and what rounding that lost. */
const generalResults = memory.data(3072, 16) // 24 · BLOCK
const generalStrips = generalResults + ((<usize>BLOCK) << 3)
const generalStripsLow = generalStrips + ((<usize>BLOCK) << 3)

/**
 * Sets the results above.
 *
 * @param vertices pointer to interleaved lon, lat in degrees
 * @param count vertices, ≥ 1
 * @param wantsArea else `strips` and `areas` are not set
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
  turn = 0
  turnLow = 0
  winding = 0
  side = NO_POLE
  isSideKnown = false
  runEdges = 0
  if (wantsArea) edge.lookUp(load<f64>(vertices, 8))
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
      addOne(p, 0, vertices, count, wantsArea)
      addOne(p + 16, 8, vertices, count, wantsArea)
    }
    lengthSum = f64x2.add(lengthSum, v128.load(slot))
    if (wantsArea) stripSum = f64x2.add(stripSum, v128.load(slot, 16))
    v0 = v2
    p += 32
  }
  let length0 = f64x2.extract_lane(lengthSum, 0)
  let strip0 = f64x2.extract_lane(stripSum, 0)
  if (p < end) {
    addOne(p, 0, vertices, count, wantsArea)
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
    addOne(p, 0, vertices, count, wantsArea)
    addOne(p + 16, 8, vertices, count, wantsArea)
    length0 += load<f64>(slot)
    length1 += load<f64>(slot, 8)
    if (wantsArea) {
      strip0 += load<f64>(slot, 16)
      strip1 += load<f64>(slot, 24)
    }
    p += 32
  }
  if (p < end) {
    addOne(p, 0, vertices, count, wantsArea)
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

/** Stores length and area of one edge of any kind in the slot, zero for a general one, which is left for `flush`. */
function addOne(p: usize, lane: usize, vertices: usize, count: i32, wantsArea: bool): void {
  const lon1 = load<f64>(p)
  const lat1 = load<f64>(p, 8)
  const lon2 = load<f64>(p, 16)
  const lat2 = load<f64>(p, 24)
  let lon12 = lon2 - lon1
  const turns = turnsLost(lon1, lon2)
  if (turns != 0) {
    winding += turns
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
 * What an edge adds to the winding: longitudes come back to where they began, so a ring has turned as often as its edges
 * were shortened by 360°. Two names of one pole count too: S12 takes the wedge between them, and the turn has to match it.
 */
export function turnsLost(lon1: f64, lon2: f64): i32 {
  const lon12 = lon2 - lon1
  if (Math.abs(lon12) < 180) return 0
  longitudeDifference(lon1, lon2)
  return <i32>nearest<f64>((high - lon12) / 360)
}

/** Adds the general edges that wait. */
function flush(vertices: usize, count: i32, wantsArea: bool): void {
  if (runEdges == 0) return
  if (wantsArea && !isSideKnown) {
    side = polarSide(vertices, count)
    isSideKnown = true
  }
  generalLengths(runStart, runEdges + 1, generalResults)
  if (wantsArea) areasInTwo(runStart, runEdges + 1, side, generalStrips, generalStripsLow)
  for (let i = 0; i < runEdges; i++) {
    addToLength(load<f64>(generalResults + ((<usize>i) << 3)))
    if (!wantsArea) continue
    const p = runStart + ((<usize>i) << 4)
    twoSum(areas, load<f64>(generalStrips + ((<usize>i) << 3)))
    areas = high
    areasLow += low + load<f64>(generalStripsLow + ((<usize>i) << 3))
    longitudeDifference(load<f64>(p), load<f64>(p, 16))
    const lon12Low = low
    twoSum(turn, high)
    turn = high
    turnLow += low + lon12Low
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
 * The pole to measure from: that of a ring that lies wholly beyond 30° on its side, else none, which is the equator.
 *
 * The terms of the sum are then no larger than they have to be. From the equator, a ring of 80 km at 85° lost 10⁻³ m² and
 * any ring around a pole up to 0.01 m² to cancellation.
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
