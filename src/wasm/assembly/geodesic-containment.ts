/**
 * Whether a point lies inside a polygon whose rings are geodesics.
 *
 * The meridian from the point to the north pole crosses a ring an odd number of times when the point and the pole are on
 * different sides of it. Which side is inside is decided in `area.ts` alone. Longitudes are never added or subtracted
 * here, only compared, so a vertex on the meridian is counted once, on whatever turn of longitude it was written.
 *
 * A point on a ring itself may be found inside or outside: its distance is 0 either way.
 */
import { enclosedPoleOf, NO_POLE, NORTH } from './area'
import { chordSquare, ECEF_BYTES, LONGEST, longestOver, RLO } from './ecef'
import { inverse } from './inverse'
import * as solution from './inverse'
import { DEGREE, high, longitudeDifference } from './math'
import { reserve } from './memory'
import { latAt, lonAt, Operand, positionAt, startOf } from './operand'
import { countLooks, countSolutions } from './work'

/** Edges in a block of a ring: a point looks at blocks, and at edges only in the block that holds it. */
const BLOCK: i32 = 32
/** Longitudes min and max of the vertices, latitudes between which the edges stay; i32 whether an edge wraps. */
const BLOCK_BYTES: usize = 40
/** Pointer to the blocks, i32 enclosed pole; one for each sequence, only those of rings are filled. */
const RING_BYTES: usize = 16

/** Makes the table of the rings of an operand; false when the memory cannot grow. */
export function prepareRings(operand: Operand): bool {
  const rings = reserve(<usize>operand.sequenceCount * RING_BYTES)
  if (rings == 0) return false
  for (let part = 0; part < operand.partCount; part++) {
    if (startOf(operand.partDimensions, part) != 2) continue
    for (let s = startOf(operand.partStarts, part); s < startOf(operand.partStarts, part + 1); s++) {
      const first = startOf(operand.sequenceStarts, s)
      const edges = startOf(operand.sequenceStarts, s + 1) - first - 1
      const blocks = reserve(<usize>((edges + BLOCK - 1) / BLOCK) * BLOCK_BYTES)
      if (blocks == 0) return false
      for (let i = 0; i * BLOCK < edges; i++) {
        fillBlock(operand, first + i * BLOCK, min(BLOCK, edges - i * BLOCK), blocks + <usize>i * BLOCK_BYTES)
      }
      store<usize>(rings + <usize>s * RING_BYTES, blocks)
      store<i32>(rings + <usize>s * RING_BYTES, enclosedPoleOf(operand.vertices + ((<usize>first) << 4), edges + 1), 8)
    }
  }
  operand.rings = rings
  return true
}

/** The pole that a ring encloses, of a sequence that is a ring. */
export function poleOf(operand: Operand, sequence: i32): i32 {
  return load<i32>(operand.rings + <usize>sequence * RING_BYTES, 8)
}

function fillBlock(operand: Operand, first: i32, edges: i32, block: usize): void {
  let west = lonAt(operand, first)
  let east = west
  let south = latAt(operand, first)
  let north = south
  let wraps = false
  let longest: f64 = 0
  for (let v = first; v < first + edges; v++) {
    const lon = lonAt(operand, v + 1)
    const lat = latAt(operand, v + 1)
    if (isWrapped(lonAt(operand, v), lon)) wraps = true
    west = Math.min(west, lon)
    east = Math.max(east, lon)
    south = Math.min(south, lat)
    north = Math.max(north, lat)
    longest = Math.max(longest, chordSquare(positionAt(operand, v), positionAt(operand, v) + ECEF_BYTES))
  }
  // Half an edge away from its nearer end, every point of it is at most this many degrees of latitude away.
  const length = longestOver(Math.sqrt(longest))
  const room = length < LONGEST ? length / (2 * RLO * DEGREE) + 1e-9 : 180
  store<f64>(block, west)
  store<f64>(block, east, 8)
  store<f64>(block, south - room, 16)
  store<f64>(block, north + room, 24)
  store<i32>(block, wraps ? 1 : 0, 32)
}

/** Whether a polygon part contains the position; `prepareRings` came before. */
export function polygonContains(operand: Operand, part: i32, lat: f64, lon: f64): bool {
  // One name for the antimeridian: 180 is east of every other longitude then.
  if (lon == 180) lon = -180
  const first = startOf(operand.partStarts, part)
  if (!ringContains(operand, first, lat, lon)) return false
  for (let s = first + 1; s < startOf(operand.partStarts, part + 1); s++) {
    if (ringContains(operand, s, lat, lon)) return false
  }
  return true
}

function ringContains(operand: Operand, sequence: i32, lat: f64, lon: f64): bool {
  const ring = operand.rings + <usize>sequence * RING_BYTES
  const first = startOf(operand.sequenceStarts, sequence)
  const edges = startOf(operand.sequenceStarts, sequence + 1) - first - 1
  let block = load<usize>(ring)
  let isOdd = false
  for (let from = 0; from < edges; from += BLOCK) {
    const count = min(BLOCK, edges - from)
    if (crossesOddly(operand, first + from, count, block, lat, lon)) isOdd = !isOdd
    block += BLOCK_BYTES
  }
  // A block costs a few nanoseconds, far less than a pair of boxes.
  countLooks(1 + edges / (16 * BLOCK))
  const pole = poleOf(operand, sequence)
  return pole == NO_POLE ? isOdd : isOdd != (pole == NORTH)
}

/** Whether the meridian north of the position crosses the edges of a block an odd number of times. */
function crossesOddly(operand: Operand, first: i32, count: i32, block: usize, lat: f64, lon: f64): bool {
  if (lat > load<f64>(block, 24)) return false
  if (load<i32>(block, 32) == 0) {
    if (lon < load<f64>(block) || lon >= load<f64>(block, 8)) return false
    if (lat < load<f64>(block, 16)) return lonAt(operand, first) > lon != lonAt(operand, first + count) > lon
  }
  let isOdd = false
  for (let v = first; v < first + count; v++) {
    const lon1 = lonAt(operand, v)
    const lon2 = lonAt(operand, v + 1)
    // East of the meridian or not; an edge over the antimeridian starts on the one side and comes back on the other.
    const changes = lon1 > lon != lon2 > lon
    if (changes != isWrapped(lon1, lon2) && isNorth(operand, v, lat, lon)) isOdd = !isOdd
  }
  return isOdd
}

/** Whether the short way between two longitudes leads over the antimeridian; the way that `longitudeDifference` goes. */
function isWrapped(lon1: f64, lon2: f64): bool {
  const plain = lon2 - lon1
  if (Math.abs(plain) < 179) return false
  longitudeDifference(lon1, lon2)
  return high == 0 ? true : plain < 0 != high < 0
}

/** Whether an edge that crosses the meridian of the position does so north of it. */
function isNorth(operand: Operand, v: i32, lat: f64, lon: f64): bool {
  let lat1 = latAt(operand, v)
  let lon1 = lonAt(operand, v)
  let lat2 = latAt(operand, v + 1)
  let lon2 = lonAt(operand, v + 1)
  // An edge that ends at a pole runs along a meridian and takes all its longitudes there.
  if (lat1 == 90 || lat2 == 90) return true
  if (lat1 == -90 || lat2 == -90) return false
  const isOrdered = lat1 < lat2 || (lat1 == lat2 && lon1 <= lon2)
  if (!isOrdered) {
    const t = lat1
    lat1 = lat2
    lat2 = t
    const u = lon1
    lon1 = lon2
    lon2 = u
  }
  countSolutions(2)
  inverse(lat1, lon1, lat2, lon2)
  longitudeDifference(lon1, lon2)
  // Over a pole, which the azimuth at the first end names.
  if (Math.abs(high) == 180) return solution.calp1 > 0
  // From its western end every geodesic leads east, and the ones farther north start with smaller azimuths.
  let salp = solution.salp1
  let calp = solution.calp1
  if (high < 0) {
    lat1 = lat2
    lon1 = lon2
    salp = -solution.salp2
    calp = -solution.calp2
  }
  inverse(lat1, lon1, lat, lon)
  return salp * solution.calp1 - calp * solution.salp1 < 0
}
