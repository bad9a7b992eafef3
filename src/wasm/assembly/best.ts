/** The least distance found so far in a search. */
import { chordUnder } from './ecef'
import { square } from './math'

/** Metres. */
export let best: f64 = Infinity
/** Square of a chord that any lower distance must be shorter than. */
export let bestChordSquare: f64 = Infinity
/** A distance that ends the search, whatever the least one is. */
export let enough: f64 = 0

/**
 * Starts a search, which ends with the first distance of at most `inner` and looks for none of at least `outer`, metres: 0
 * and Infinity for the least distance.
 */
export function forget(inner: f64, outer: f64): void {
  best = outer
  bestChordSquare = outer < Infinity ? square(chordUnder(outer)) : Infinity
  enough = inner
}

/** Notes a distance that two points of the geometries have. */
export function found(distance: f64): void {
  if (distance >= best) return
  best = distance
  bestChordSquare = distance == 0 ? 0 : square(chordUnder(distance))
}
