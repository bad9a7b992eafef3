import { createRequire } from 'node:module'
import { problemAt } from '../base/problem.ts'
import type { MultiPolygon, Polygon, Position } from '../types/generated.ts'
import { type Path, trimAscii } from './notation.ts'

const RADIANS = Math.PI / 180

/**
 * Cuts a convex ring of great-circle arcs at ±180°, as RFC 7946 requires in section 3.1.9.
 *
 * @param ring closed, convex on the sphere and smaller than a hemisphere, longitudes in −180..180
 * @returns the ring itself if it does not cross ±180°; two rings, one that ends at 180 and one that begins at −180, if it does;
 *   one ring with an edge along the pole if it goes around a pole
 */
function cutAtAntimeridian(ring: readonly Position[]): readonly (readonly Position[])[] {
  const unwrapped: Position[] = [ring[0]!]
  for (const [longitude, latitude] of ring.slice(1)) {
    const turns = Math.round((longitude - unwrapped.at(-1)![0]) / 360)
    unwrapped.push([longitude - 360 * turns, latitude])
  }
  const windingDegrees = unwrapped.at(-1)![0] - unwrapped[0]![0]
  if (windingDegrees !== 0) return [closeAlongPole(ring, Math.sign(windingDegrees))]
  const longitudes = unwrapped.map(([longitude]) => longitude)
  const least = Math.min(...longitudes)
  if (least >= -180 && Math.max(...longitudes) <= 180) return [ring]
  const shift = least < -180 ? 360 : 0
  const shifted = unwrapped.map(([longitude, latitude]): Position => [longitude + shift, latitude])
  const west = clipAt180(shifted, 1).map(([longitude, latitude]): Position => [longitude - 360, latitude])
  return [clipAt180(shifted, -1), west]
}

/** Clips a ring to one side of 180°: 1 is the side of greater longitudes. A meridian meets a convex ring at most twice. */
function clipAt180(ring: readonly Position[], side: 1 | -1): Position[] {
  const clipped: Position[] = []
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1]!, ring[index]!]
    const [a, b] = [side * (from[0] - 180), side * (to[0] - 180)]
    if (a >= 0) clipped.push(from)
    if (a * b < 0) clipped.push([180, latitudeAt180(from, to)])
  }
  return [...clipped, clipped[0]!]
}

/** @param direction 1 for a ring that winds eastward, −1 westward */
function closeAlongPole(ring: readonly Position[], direction: number): Position[] {
  const jump = ring.findIndex(([longitude], index) => index > 0 && Math.abs(longitude - ring[index - 1]![0]) > 180)
  const open = [...ring.slice(jump, -1), ...ring.slice(0, jump)]
  const cut = latitudeAt180(ring[jump - 1]!, ring[jump]!)
  const pole = Math.sign(cut) * 90
  const [start, end] = [-180 * direction, 180 * direction]
  return [[start, cut], ...open, [end, cut], [end, pole], [start, pole], [start, cut]]
}

/** Returns the latitude at which a great-circle arc meets the meridian of 180°. */
function latitudeAt180([lon1, lat1]: Position, [lon2, lat2]: Position): number {
  const before = Math.tan(lat1 * RADIANS) * Math.sin((lon2 - 180) * RADIANS)
  const after = Math.tan(lat2 * RADIANS) * Math.sin((180 - lon1) * RADIANS)
  return Math.atan((before + after) / Math.sin((lon2 - lon1) * RADIANS)) / RADIANS
}

type Library = typeof import('h3-js')

let library: Library | undefined

/** Loads the library on first use, because that takes tens of milliseconds, and megabytes of memory in every thread. */
function loadLibrary(): Library {
  library ??= createRequire(import.meta.url)('h3-js') as Library
  return library
}

/**
 * Steps per degree: 1e-9° is 0.1 mm on the ground. The corners come from JavaScript sines, whose last digits differ between
 * engines.
 */
const STEPS_PER_DEGREE = 1e9

/**
 * Returns the cell of an H3 index as a polygon. Its centre would be a guess, because an index does not say where in the cell
 * something is.
 *
 * @param text 15 hex digits in upper or lower case, with or without `0x` and a leading zero
 * @param path of the text in the request, for messages
 * @returns 5 to 10 corners (more than 6 where an edge of the icosahedron crosses the cell), rounded to 1e-9 degrees. A cell
 *   across the antimeridian is cut there (RFC 7946, section 3.1.9): into two polygons, or into one with an edge along the pole
 *   that it contains
 * @throws {ProblemError} `invalid-input`
 * @see h3geo.org
 */
export function readH3(text: string, path: Path): Polygon | MultiPolygon {
  const digits = trimAscii(text).replace(/^0x/i, '').replace(/^0/, '').toLowerCase()
  const h3 = /^[0-9a-f]{15,16}$/.test(digits) ? loadLibrary() : undefined
  if (h3 === undefined || !h3.isValidCell(digits)) {
    const isOtherIndex = h3?.isValidIndex(digits) === true
    throw problemAt('invalid-input', path, isOtherIndex ? 'is an H3 edge or vertex, not a cell' : 'is not an H3 cell', {
      code: 'not-h3',
      hint: 'send the index of a cell, such as 8928308280fffff',
    })
  }
  const rings = cutAtAntimeridian(h3.cellToBoundary(digits, true) as Position[]).map((ring) => ring.map(roundPosition))
  return rings.length === 1
    ? { type: 'Polygon', coordinates: [rings[0]!] }
    : { type: 'MultiPolygon', coordinates: rings.map((ring) => [ring]) }
}

function roundPosition([longitude, latitude]: Position): Position {
  return [
    Math.round(longitude * STEPS_PER_DEGREE) / STEPS_PER_DEGREE + 0,
    Math.round(latitude * STEPS_PER_DEGREE) / STEPS_PER_DEGREE + 0,
  ]
}
