import type { Position } from '../types/generated.ts'

const RADIANS = Math.PI / 180

/**
 * Cuts a convex ring of great-circle arcs at ±180°, as RFC 7946 requires in section 3.1.9.
 *
 * @param ring closed, convex on the sphere and smaller than a hemisphere, longitudes in −180..180
 * @returns the ring itself if it does not cross ±180°; two rings, one that ends at 180 and one that begins at −180, if it does;
 *   one ring with an edge along the pole if it goes around a pole
 */
export function cutAtAntimeridian(ring: readonly Position[]): readonly (readonly Position[])[] {
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
