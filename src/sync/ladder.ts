import type { BlockId } from '../wire/sync-messages.ts'

/** Final blocks are spaced by an eighth of their distance from finality, so a hundred of them span any chain. */
const SPACING = 8

/**
 * Blocks of one chain that we have seen, newest first: every block that is not final, and ever fewer of the older ones. So a
 * reorganisation of any depth has a common ancestor to roll back to.
 */
export type Ladder = readonly BlockId[]

/** Returns the numbers of blocks that a ladder no longer needs. The newest and the oldest block always stay. */
export function findSurplusBlocks(ladder: Ladder, finalized: number): number[] {
  const removed: number[] = []
  let lastKept: number | undefined
  for (const [index, { number }] of ladder.entries()) {
    if (number > finalized || index === 0 || index === ladder.length - 1) {
      lastKept = number
      continue
    }
    const gap = (finalized - number) / SPACING
    if (lastKept !== undefined && lastKept - number < gap) removed.push(number)
    else lastKept = number
  }
  return removed
}

/** Returns the ladder after adding and removing blocks. An added block replaces one of the same number. */
export function extendLadder(ladder: Ladder, add: readonly BlockId[], remove: readonly number[]): Ladder {
  const removed = new Set([...remove, ...add.map(({ number }) => number)])
  const rungs = [...ladder.filter(({ number }) => !removed.has(number)), ...add]
  return rungs.sort((a, b) => b.number - a.number)
}

/** Returns the ladder up to and including a block number. */
export function truncateLadder(ladder: Ladder, number: number): Ladder {
  return ladder.filter((rung) => rung.number <= number)
}
