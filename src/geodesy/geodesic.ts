/** Both problems of a single geodesic on WGS 84: from two points to its course, and from its course to its end. */
import type { Kernel } from '../wasm/loader.ts'

/** Longitude and latitude in degrees. */
type LonLat = readonly [longitude: number, latitude: number]

export interface Inverse {
  /** Length of the shortest geodesic, metres. */
  readonly meters: number
  /** Azimuth at the first point, degrees clockwise from north, −180 to 180. */
  readonly azimuth: number
  /** Azimuth at the second point, in the same direction of travel. */
  readonly arrivalAzimuth: number
}

/**
 * Solves the inverse problem. If several geodesics are equally short, as between antipodes, it is one of them. Coincident points
 * have the azimuths 0, or 180 at the south pole.
 *
 * @see C. F. F. Karney, Algorithms for geodesics, J. Geodesy 87 (2013), doi:10.1007/s00190-012-0578-z
 */
export function solveInverse(kernel: Kernel, [lon1, lat1]: LonLat, [lon2, lat2]: LonLat): Inverse {
  const meters = kernel.inverse(lat1, lon1, lat2, lon2)
  const azimuth = toDegrees(kernel.salp1(), kernel.calp1())
  return { meters, azimuth, arrivalAzimuth: toDegrees(kernel.salp2(), kernel.calp2()) }
}

export interface Direct {
  readonly position: [longitude: number, latitude: number]
  /** Azimuth at the position, in the direction of travel, degrees. */
  readonly arrivalAzimuth: number
}

/**
 * Solves the direct problem.
 *
 * @param azimuth degrees clockwise from north
 * @param meters length of the geodesic; a negative one goes backwards
 */
export function solveDirect(kernel: Kernel, [lon, lat]: LonLat, azimuth: number, meters: number): Direct {
  const [sine, cosine] = sineCosine(azimuth)
  const arrivalLat = kernel.direct(lat, lon, sine, cosine, meters)
  return {
    position: [kernel.arrivalLon(), arrivalLat],
    arrivalAzimuth: toDegrees(kernel.arrivalSalp2(), kernel.arrivalCalp2()),
  }
}

/** Returns the sine and cosine of an angle in degrees, exact for multiples of 90. */
function sineCosine(degrees: number): readonly [sine: number, cosine: number] {
  const turn = degrees % 360
  const quarters = Math.round(turn / 90)
  const radians = ((turn - 90 * quarters) * Math.PI) / 180
  const [sine, cosine] = [Math.sin(radians), Math.cos(radians)]
  switch (quarters & 3) {
    case 0:
      return [sine, cosine]
    case 1:
      return [cosine, 0 - sine]
    case 2:
      return [0 - sine, 0 - cosine]
    default:
      return [0 - cosine, sine]
  }
}

/** Returns the angle of a sine and a cosine in degrees, exact for multiples of 90. */
function toDegrees(sine: number, cosine: number): number {
  if (Math.abs(sine) <= Math.abs(cosine)) {
    const fromAxis = (Math.atan(sine / cosine) * 180) / Math.PI
    if (cosine > 0) return fromAxis + 0
    return sine < 0 ? fromAxis - 180 : fromAxis + 180
  }
  const fromAxis = (Math.atan(cosine / sine) * 180) / Math.PI
  return sine > 0 ? 90 - fromAxis : -90 - fromAxis
}
