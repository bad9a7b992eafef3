import { spendWork } from '../base/work.ts'
import type { Kernel } from '../wasm/loader.ts'
import type { Place } from './distance.ts'

/** The shortest geodesic between two places. */
export interface Geodesic {
  readonly from: Place
  readonly to: Place
  readonly lengthMeters: number
  /** Sine and cosine of the azimuth at `from`. */
  readonly sine: number
  readonly cosine: number
}

/** A last step shorter than this, metres, is left out: rounding decides whether there is one. */
const SHORTEST_STEP_METERS = 1e-6

/** Finds the shortest geodesic. Between nearly antipodal places there may be several, of which it takes one. */
export function solveGeodesic(kernel: Kernel, from: Place, to: Place): Geodesic {
  spendWork(1)
  const lengthMeters = kernel.inverse(from[1], from[0], to[1], to[0])
  return { from, to, lengthMeters, sine: kernel.salp1(), cosine: kernel.calp1() }
}

/** Returns the number of whole steps before the end of a geodesic. */
export function countSteps({ lengthMeters }: Geodesic, everyMeters: number): number {
  return Math.max(0, Math.ceil((lengthMeters - SHORTEST_STEP_METERS) / everyMeters) - 1)
}

/**
 * Returns lines along a geodesic with a place every `everyMeters` metres from its start, and its end. At longitude ±180 the line is
 * cut, with a place of the geodesic at the end of one line and the start of the next (RFC 7946, 3.1.9). A geodesic over a pole gets
 * both longitudes of the pole, so that no edge crosses the map.
 *
 * @param everyMeters above 0
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function waypointLines(kernel: Kernel, geodesic: Geodesic, everyMeters: number): Place[][] {
  const lines = new LineCutter(kernel, geodesic)
  const steps = countSteps(geodesic, everyMeters)
  for (let step = 1; step <= steps; step++) lines.add(placeAt(kernel, geodesic, step * everyMeters), step * everyMeters)
  lines.add(geodesic.to, geodesic.lengthMeters)
  return lines.finish()
}

/** Returns the place of a geodesic at a number of metres from its start. */
function placeAt(kernel: Kernel, { from, sine, cosine }: Geodesic, meters: number): Place {
  spendWork(WORK_PER_PLACE)
  const latitude = kernel.direct(from[1], from[0], sine, cosine, meters)
  return [kernel.arrivalLon() + 0, latitude + 0]
}

/** Units of work for a place: computing it, and writing and hashing its text. */
const WORK_PER_PLACE = 2
/** Halvings of a step of up to 20,004 km after which it is shorter than the rounding of its place. */
const HALVINGS = 55

/** Joins the places of a geodesic to lines that do not cross longitude ±180. */
class LineCutter {
  readonly #kernel: Kernel
  readonly #geodesic: Geodesic
  readonly #lines: Place[][]
  #meters = 0

  constructor(kernel: Kernel, geodesic: Geodesic) {
    this.#kernel = kernel
    this.#geodesic = geodesic
    this.#lines = [[geodesic.from]]
  }

  /** @param meters of the place from the start */
  add(place: Place, meters: number): void {
    const line = this.#lines.at(-1)!
    const last = line.at(-1)!
    const width = Math.abs(place[0] - last[0])
    if (Math.abs(width - 180) < POLE_WIDTH && this.#isOverPole(last, place)) {
      const pole = this.#geodesic.cosine >= 0 ? 90 : -90
      line.push([last[0], pole], [place[0], pole])
      line.push(place)
    } else if (width <= 180) line.push(place)
    else if (Math.abs(place[0]) === 180) {
      // The other name of the same meridian.
      line.push([-place[0], place[1]])
    } else if (Math.abs(last[0]) === 180) {
      if (line.length === 1) line.pop()
      else this.#lines.push([])
      this.#lines.at(-1)!.push([-last[0], last[1]], place)
    } else {
      const latitude = this.#latitudeOfCut(last, this.#meters, meters)
      line.push([180 * Math.sign(last[0]), latitude])
      this.#lines.push([[180 * Math.sign(place[0]), latitude], place])
    }
    this.#meters = meters
  }

  /** Every line has two places: a lone place belongs to the line before. */
  finish(): Place[][] {
    return this.#lines
  }

  /** A geodesic over a pole is a meridian. */
  #isOverPole(last: Place, place: Place): boolean {
    return Math.abs(this.#geodesic.sine) < POLE_SINE && Math.abs(last[1]) < 90 && Math.abs(place[1]) < 90
  }

  /** Finds where the step that ends at `high` metres crosses longitude ±180. */
  #latitudeOfCut(last: Place, low: number, high: number): number {
    const isEast = last[0] > 0
    let latitude = last[1]
    for (let halving = 0; halving < HALVINGS; halving++) {
      const middle = (low + high) / 2
      const place = placeAt(this.#kernel, this.#geodesic, middle)
      latitude = place[1]
      if (place[0] > 0 === isEast) low = middle
      else high = middle
    }
    return latitude
  }
}

/** Degrees by which rounding changes the difference of the two longitudes of a meridian. */
const POLE_WIDTH = 1e-9
/** A geodesic whose azimuth has a smaller sine passes a pole at less than 0.1 µm. */
const POLE_SINE = 1e-14
