import type { Position } from '../types/generated.ts'

const RADIANS = Math.PI / 180

/**
 * Cuts a convex ring of arcs of great circles at ±180°, as RFC 7946 asks in section 3.1.9.
 *
 * @param ring closed, convex on the sphere and smaller than half of it, longitudes in −180..180
 * @returns the ring itself where it does not cross; its part east of the cut and its part west of it; or one ring with an edge along
 *   the pole that it holds
 */
export function cutAtAntimeridian(ring: readonly Position[]): readonly (readonly Position[])[] {
  const unwrapped: Position[] = [ring[0]!]
  for (const [longitude, latitude] of ring.slice(1)) {
    const turns = Math.round((longitude - unwrapped.at(-1)![0]) / 360)
    unwrapped.push([longitude - 360 * turns, latitude])
  }
  const turned = unwrapped.at(-1)![0] - unwrapped[0]![0]
  if (turned !== 0) return [alongPole(ring, Math.sign(turned))]
  const longitudes = unwrapped.map(([longitude]) => longitude)
  const least = Math.min(...longitudes)
  if (least >= -180 && Math.max(...longitudes) <= 180) return [ring]
  const shift = least < -180 ? 360 : 0
  const shifted = unwrapped.map(([longitude, latitude]): Position => [longitude + shift, latitude])
  const west = beside(shifted, 1).map(([longitude, latitude]): Position => [longitude - 360, latitude])
  return [beside(shifted, -1), west]
}

/** The part of a ring on one side of 180°: 1 is the side of greater longitudes. A meridian meets a convex ring twice at most. */
function beside(ring: readonly Position[], side: 1 | -1): Position[] {
  const kept: Position[] = []
  for (let index = 1; index < ring.length; index++) {
    const [from, to] = [ring[index - 1]!, ring[index]!]
    const [a, b] = [side * (from[0] - 180), side * (to[0] - 180)]
    if (a >= 0) kept.push(from)
    if (a * b < 0) kept.push([180, latitudeAt180(from, to)])
  }
  return [...kept, kept[0]!]
}

/** @param direction 1 for a ring that winds eastward */
function alongPole(ring: readonly Position[], direction: number): Position[] {
  const jump = ring.findIndex(([longitude], index) => index > 0 && Math.abs(longitude - ring[index - 1]![0]) > 180)
  const open = [...ring.slice(jump, -1), ...ring.slice(0, jump)]
  const cut = latitudeAt180(ring[jump - 1]!, ring[jump]!)
  const pole = Math.sign(cut) * 90
  const [start, end] = [-180 * direction, 180 * direction]
  return [[start, cut], ...open, [end, cut], [end, pole], [start, pole], [start, cut]]
}

/** Where an arc of a great circle meets the meridian of 180°. */
function latitudeAt180([lon1, lat1]: Position, [lon2, lat2]: Position): number {
  const before = Math.tan(lat1 * RADIANS) * Math.sin((lon2 - 180) * RADIANS)
  const after = Math.tan(lat2 * RADIANS) * Math.sin((180 - lon1) * RADIANS)
  return Math.atan((before + after) / Math.sin((lon2 - lon1) * RADIANS)) / RADIANS
}
