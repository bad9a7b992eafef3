/** The least distance found so far in a search for the minimum distance. */
import { chordUpperBound } from '../edges/ecef'
import { square } from '../math/math'

/** Least distance so far, metres. */
export let best: f64 = Infinity
/** Square of an upper bound of the chord under `best`: a distance below `best` has a shorter chord. */
export let bestChordSquare: f64 = Infinity
/** The search may stop as soon as `best` is at most this distance, metres. */
export let goodEnough: f64 = 0

/**
 * Starts a search. It ends at the first distance of at most `inner` and ignores distances of at least `outer`, metres.
 * 0 and Infinity search for the least distance.
 */
export function resetBest(inner: f64, outer: f64): void {
  best = outer
  bestChordSquare = outer < Infinity ? square(chordUpperBound(outer)) : Infinity
  goodEnough = inner
}

/** Lowers `best` to a distance between two points of the geometries, if it is less. */
export function lowerBest(distance: f64): void {
  if (distance >= best) return
  best = distance
  bestChordSquare = distance == 0 ? 0 : square(chordUpperBound(distance))
}
