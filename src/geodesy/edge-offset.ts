import type { Kernel } from '../wasm/loader.ts'

/** Offsets smaller than this have no certain sign, metres. The error of an azimuth moves the far end of a line by up to 15 nm. */
export const UNCERTAIN_METERS = 5e-8

/** How far a position lies from the geodesic of an edge. */
export interface Offset {
  /** First-order approximation; positive to the left of the direction from the first end to the second. */
  readonly leftMeters: number
  /** An offset no larger than this may have either sign. */
  readonly errorMeters: number
}

/** The shortest geodesic between two positions, from which the offsets of other positions are measured. */
export class GeodesicEdge {
  readonly lengthMeters: number
  readonly #kernel: Kernel
  readonly #ends: readonly [lon1: number, lat1: number, lon2: number, lat2: number]
  readonly #azimuths: readonly [salp1: number, calp1: number, salp2: number, calp2: number]
  readonly #reducedLength: number

  /** Solves the inverse problem once. Coordinates are degrees. */
  constructor(kernel: Kernel, lon1: number, lat1: number, lon2: number, lat2: number) {
    this.#kernel = kernel
    this.#ends = [lon1, lat1, lon2, lat2]
    this.lengthMeters = kernel.inverse(lat1, lon1, lat2, lon2)
    this.#azimuths = [kernel.salp1(), kernel.calp1(), kernel.salp2(), kernel.calp2()]
    this.#reducedLength = kernel.m12()
  }

  /** Whether the edge leaves its first end towards the north. */
  get startsNorthward(): boolean {
    return this.#azimuths[1] > 0
  }

  /**
   * Returns the offset of a position. Solves the inverse problem once more.
   *
   * @param isNearSecond whether the position is nearer to the second end, whose azimuth is then used
   */
  measureOffset(lon: number, lat: number, isNearSecond: boolean): Offset {
    const [lon1, lat1, lon2, lat2] = this.#ends
    const [salp1, calp1, salp2, calp2] = this.#azimuths
    const kernel = this.#kernel
    if (isNearSecond) kernel.inverse(lat2, lon2, lat, lon)
    else kernel.inverse(lat1, lon1, lat, lon)
    const reducedLength = kernel.m12()
    const [salp, calp] = isNearSecond ? [salp2, calp2] : [salp1, calp1]
    const leftMeters = (calp * kernel.salp1() - salp * kernel.calp1()) * -reducedLength
    // The azimuth of an edge between almost antipodal positions is only as accurate as its reduced length allows.
    return { leftMeters, errorMeters: UNCERTAIN_METERS * Math.max(1, reducedLength / this.#reducedLength) }
  }
}
