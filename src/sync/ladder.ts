import type { BlockId } from '../sync-messages.ts'

/** Of finalised blocks one is kept for each eighth of its distance from finality: a hundred of them span any chain. */
const SPACING = 8

/**
 * The blocks we have seen of one chain, newest first: every one that is not final, and of the older ones fewer and fewer, so
 * that however deep a reorg goes there is an ancestor to go back to.
 */
export type Ladder = readonly BlockId[]

/** Blocks of a ladder that need not be remembered any more; the newest and the oldest one always are. */
export function surplus(ladder: Ladder, finalized: number): number[] {
  const gone: number[] = []
  let kept: number | undefined
  for (const [index, { number }] of ladder.entries()) {
    if (number > finalized || index === 0 || index === ladder.length - 1) {
      kept = number
      continue
    }
    const gap = (finalized - number) / SPACING
    if (kept !== undefined && kept - number < gap) gone.push(number)
    else kept = number
  }
  return gone
}

/** The ladder after blocks came and others went; blocks of equal numbers replace older ones. */
export function extended(ladder: Ladder, add: readonly BlockId[], remove: readonly number[]): Ladder {
  const gone = new Set([...remove, ...add.map(({ number }) => number)])
  const rungs = [...ladder.filter(({ number }) => !gone.has(number)), ...add]
  return rungs.sort((a, b) => b.number - a.number)
}

/** The ladder up to a block. */
export function cutAfter(ladder: Ladder, number: number): Ladder {
  return ladder.filter((rung) => rung.number <= number)
}
