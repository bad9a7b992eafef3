/** The least distance found so far in a search. */
import { chordUnder } from './ecef'
import { square } from './math'

/** Metres. */
export let best: f64 = Infinity
/** Square of a chord that any lower distance must be shorter than. */
export let bestChordSquare: f64 = Infinity

/** Starts a search. */
export function forget(): void {
  best = Infinity
  bestChordSquare = Infinity
}

/** Notes a distance that two points of the geometries have. */
export function found(distance: f64): void {
  if (distance >= best) return
  best = distance
  bestChordSquare = distance == 0 ? 0 : square(chordUnder(distance))
}
