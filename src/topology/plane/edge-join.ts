import { spendWork } from '../../base/work.ts'
import { FILTER, orientation, SMALLEST_PRODUCT } from '../exact/exact.ts'
import { type EdgeTree, FANOUT } from './edge-tree.ts'

/** How two edges meet. */
const APART = 0
/** They share an end, an end of one lies on the other, or they overlap. */
const TOUCH = 1
/** Their interiors cross at one point. */
export const CROSS = 2
type Contact = typeof APART | typeof TOUCH | typeof CROSS

/** How a join ended: all pairs were visited, the visitor stopped it, or the budget was spent. */
type JoinEnd = 'done' | 'stopped' | 'exhausted'

/**
 * Returns the cost that a join of this many edges may have before the sweep takes over. Ordinary rings need 10 to 60 comparisons
 * per edge; a sweep takes as long as about 300.
 */
export function joinBudget(edgeCount: number): number {
  return 60 * edgeCount + 10_000
}

/** Tells whether c and d certainly lie on the same side of the line a → b. This is the common case; floating point decides it. */
function areCertainlyOnOneSide(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): boolean {
  const ux = bx - ax
  const uy = by - ay
  const left1 = ux * (cy - ay)
  const right1 = uy * (cx - ax)
  const left2 = ux * (dy - ay)
  const right2 = uy * (dx - ax)
  // Both sides exceed the error bound and have the same sign.
  const bound = FILTER * (Math.abs(left1) + Math.abs(right1) + Math.abs(left2) + Math.abs(right2)) + SMALLEST_PRODUCT
  const side1 = left1 - right1
  const side2 = left2 - right2
  return (side1 > bound && side2 > bound) || (side1 < -bound && side2 < -bound)
}

/** Returns how the segments a–b and c–d in the plane meet. Exact for all segments, including those of zero length. */
function findEdgeContact(
  ax: number,
  ay: number,
  bx: number,
  by: number,
  cx: number,
  cy: number,
  dx: number,
  dy: number,
): Contact {
  if (areCertainlyOnOneSide(ax, ay, bx, by, cx, cy, dx, dy)) return APART
  if (areCertainlyOnOneSide(cx, cy, dx, dy, ax, ay, bx, by)) return APART
  // Along a common border most contacts are common vertices.
  if ((ax === cx && ay === cy) || (ax === dx && ay === dy)) return TOUCH
  if ((bx === cx && by === cy) || (bx === dx && by === dy)) return TOUCH
  const sideC = orientation(ax, ay, bx, by, cx, cy)
  const sideD = orientation(ax, ay, bx, by, dx, dy)
  if ((sideC > 0 && sideD > 0) || (sideC < 0 && sideD < 0)) return APART
  const sideA = orientation(cx, cy, dx, dy, ax, ay)
  const sideB = orientation(cx, cy, dx, dy, bx, by)
  if ((sideA > 0 && sideB > 0) || (sideA < 0 && sideB < 0)) return APART
  if (sideA !== 0 && sideB !== 0 && sideC !== 0 && sideD !== 0) return CROSS
  if (sideA !== 0 || sideB !== 0 || sideC !== 0 || sideD !== 0) return TOUCH
  // All four are collinear: the segments meet if their ranges overlap in both coordinates.
  const isApart =
    Math.max(ax, bx) < Math.min(cx, dx) ||
    Math.max(cx, dx) < Math.min(ax, bx) ||
    Math.max(ay, by) < Math.min(cy, dy) ||
    Math.max(cy, dy) < Math.min(ay, by)
  return isApart ? APART : TOUCH
}

/** Tells whether the path a → b → c turns back on itself at b. */
function foldsBack(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): boolean {
  if (orientation(ax, ay, bx, by, cx, cy) !== 0) return false
  return ax === bx && cx === bx ? ay < by === cy < by : ax < bx === cx < bx
}

/** Cost of one exact contact test, in comparisons of boxes. */
const CONTACT_EFFORT = 4
/** Comparisons of boxes that count as one unit of work. */
const COMPARISONS_PER_UNIT = 256

/**
 * Visits all pairs of edges, one of each tree, that meet. An edge is identified by the vertex at which it starts; a point counts
 * as an edge of zero length.
 *
 * @param budget comparisons of boxes after which the join gives up
 * @param visit returns false to stop
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function joinEdges(
  a: EdgeTree,
  b: EdgeTree,
  budget: number,
  visit: (contact: Contact, edgeA: number, edgeB: number) => boolean,
): JoinEnd {
  if (a.leafCount === 0 || b.leafCount === 0 || areBoxesApart(a.boxes, rootOffset(a), b.boxes, rootOffset(b)))
    return 'done'
  let remaining = budget
  const finish = (end: JoinEnd): JoinEnd => {
    spendWork((budget - Math.max(0, remaining)) / COMPARISONS_PER_UNIT)
    return end
  }
  // Pairs of (level, node) of both trees.
  const stack = [a.rootLevel, 0, b.rootLevel, 0]
  while (stack.length > 0) {
    const nodeB = stack.pop()!
    const levelB = stack.pop()!
    const nodeA = stack.pop()!
    const levelA = stack.pop()!
    if (levelA === 0 && levelB === 0) {
      const left = joinLeaves(a, nodeA, b, nodeB, remaining, visit)
      if (left === STOPPED) return finish('stopped')
      remaining = left
      if (remaining < 0) return finish('exhausted')
      continue
    }
    const splitsA = levelA >= levelB
    const split = splitsA ? a : b
    const level = (splitsA ? levelA : levelB) - 1
    const first = FANOUT * (splitsA ? nodeA : nodeB)
    const start = split.levels[level]!
    const end = Math.min(first + FANOUT, split.levels[level + 1]! - start)
    const fixedBoxes = splitsA ? b.boxes : a.boxes
    const fixed = 4 * (splitsA ? b.levels[levelB]! + nodeB : a.levels[levelA]! + nodeA)
    remaining -= end - first
    if (remaining < 0) return finish('exhausted')
    for (let child = end - 1; child >= first; child--) {
      if (areBoxesApart(split.boxes, 4 * (start + child), fixedBoxes, fixed)) continue
      if (splitsA) stack.push(level, child, levelB, nodeB)
      else stack.push(levelA, nodeA, level, child)
    }
  }
  return finish('done')
}

const STOPPED = Number.NEGATIVE_INFINITY

/** @returns the remaining budget, or STOPPED when the visitor ended the join */
function joinLeaves(
  a: EdgeTree,
  leafA: number,
  b: EdgeTree,
  leafB: number,
  budget: number,
  visit: (contact: Contact, edgeA: number, edgeB: number) => boolean,
): number {
  const v = a.vertices
  const w = b.vertices
  const lastA = a.leafLast[leafA]!
  const firstB = b.leafFirst[leafB]!
  const lastB = b.leafLast[leafB]!
  const west = b.boxes[4 * leafB]!
  const south = b.boxes[4 * leafB + 1]!
  const east = b.boxes[4 * leafB + 2]!
  const north = b.boxes[4 * leafB + 3]!
  let remaining = budget
  let i = a.leafFirst[leafA]!
  do {
    const i2 = Math.min(i + 1, lastA)
    const ax = v[2 * i]!
    const ay = v[2 * i + 1]!
    const bx = v[2 * i2]!
    const by = v[2 * i2 + 1]!
    const ownWest = ax < bx ? ax : bx
    const ownEast = ax < bx ? bx : ax
    const ownSouth = ay < by ? ay : by
    const ownNorth = ay < by ? by : ay
    remaining--
    if (ownWest <= east && ownEast >= west && ownSouth <= north && ownNorth >= south) {
      let j = firstB
      remaining -= lastB - firstB
      do {
        const j2 = Math.min(j + 1, lastB)
        const cx = w[2 * j]!
        const cy = w[2 * j + 1]!
        const dx = w[2 * j2]!
        const dy = w[2 * j2 + 1]!
        const isNear =
          (cx <= ownEast || dx <= ownEast) &&
          (cx >= ownWest || dx >= ownWest) &&
          (cy <= ownNorth || dy <= ownNorth) &&
          (cy >= ownSouth || dy >= ownSouth)
        if (isNear) {
          remaining -= CONTACT_EFFORT
          const contact = findEdgeContact(ax, ay, bx, by, cx, cy, dx, dy)
          if (contact !== APART && !visit(contact, i, j)) return STOPPED
        }
        j++
      } while (j < lastB)
    }
    i++
  } while (i < lastA)
  return remaining
}

/**
 * Tells whether rings intersect neither themselves nor each other: only consecutive edges of a ring share an end. A monotone
 * chain, whose edges all run in one direction, is skipped, because it cannot intersect itself.
 *
 * @param tree holds rings only
 * @param isSimple by sequence: 1 for rings known not to intersect themselves
 * @param budget comparisons of boxes after which the check gives up
 * @returns false also when the outcome is uncertain: when the budget is spent, and for repeated vertices
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function areRingsSimple(tree: EdgeTree, isSimple: Uint8Array, budget: number): boolean {
  const left = compareRings(tree, isSimple, budget)
  spendWork((budget - Math.max(0, left)) / COMPARISONS_PER_UNIT)
  return left >= 0
}

/** Does the work of `areRingsSimple`. Returns the remaining budget; negative when rings meet or the budget is spent. */
function compareRings(tree: EdgeTree, isSimple: Uint8Array, budget: number): number {
  const { boxes, levels, trends, leafSequence } = tree
  let remaining = budget
  // Pairs of nodes of one level; a node paired with itself stands for the pairs inside it.
  const stack = [tree.rootLevel, 0, 0]
  while (stack.length > 0) {
    const second = stack.pop()!
    const first = stack.pop()!
    const level = stack.pop()!
    const start = levels[level]!
    if (first === second && trends[start + first] !== 0) continue
    if (level === 0) {
      const sequence = leafSequence[first]!
      if (sequence === leafSequence[second] && isSimple[sequence] === 1) continue
      remaining = joinRingLeaves(tree, first, second, remaining)
      if (remaining < 0) return remaining
      continue
    }
    const below = levels[level - 1]!
    const firstEnd = Math.min(FANOUT * first + FANOUT, start - below)
    const secondEnd = Math.min(FANOUT * second + FANOUT, start - below)
    const width = FANOUT ** (level - 1)
    for (let child = FANOUT * first; child < firstEnd; child++) {
      if (first === second) stack.push(level - 1, child, child)
      const o = 4 * (below + child)
      let other = first === second ? child + 1 : FANOUT * second
      remaining -= secondEnd - other
      for (; other < secondEnd; other++) {
        if (areBoxesApart(boxes, o, boxes, 4 * (below + other))) continue
        // Both nodes belong to one monotone chain.
        if (
          other === child + 1 &&
          (trends[below + child]! & trends[below + other]!) !== 0 &&
          leafSequence[width * other - 1] === leafSequence[width * other]
        ) {
          continue
        }
        stack.push(level - 1, child, other)
      }
    }
    if (remaining < 0) return remaining
  }
  return remaining
}

/**
 * Tests the edges of two leaves, or of one leaf, against each other.
 *
 * @returns the remaining budget, or STOPPED when two edges meet
 */
function joinRingLeaves(tree: EdgeTree, leafA: number, leafB: number, budget: number): number {
  const { vertices: v, sequenceStarts, leafFirst, leafLast, leafSequence, boxes } = tree
  const lastA = leafLast[leafA]!
  const lastB = leafLast[leafB]!
  const isOneRing = leafSequence[leafA] === leafSequence[leafB]
  const ringFirst = sequenceStarts[leafSequence[leafA]!]!
  const ringLast = sequenceStarts[leafSequence[leafA]! + 1]! - 1
  const west = boxes[4 * leafB]!
  const south = boxes[4 * leafB + 1]!
  const east = boxes[4 * leafB + 2]!
  const north = boxes[4 * leafB + 3]!
  let remaining = budget - (lastA - leafFirst[leafA]!)
  for (let i = leafFirst[leafA]!; i < lastA; i++) {
    const ax = v[2 * i]!
    const ay = v[2 * i + 1]!
    const bx = v[2 * i + 2]!
    const by = v[2 * i + 3]!
    const ownWest = ax < bx ? ax : bx
    const ownEast = ax < bx ? bx : ax
    const ownSouth = ay < by ? ay : by
    const ownNorth = ay < by ? by : ay
    if (ownWest > east || ownEast < west || ownSouth > north || ownNorth < south) continue
    remaining -= lastB - leafFirst[leafB]!
    for (let j = leafA === leafB ? i + 1 : leafFirst[leafB]!; j < lastB; j++) {
      const cx = v[2 * j]!
      const cy = v[2 * j + 1]!
      const dx = v[2 * j + 2]!
      const dy = v[2 * j + 3]!
      if (cx < ownWest && dx < ownWest) continue
      if (cx > ownEast && dx > ownEast) continue
      if (cy < ownSouth && dy < ownSouth) continue
      if (cy > ownNorth && dy > ownNorth) continue
      remaining -= CONTACT_EFFORT
      if (isOneRing && j === i + 1) {
        if (foldsBack(ax, ay, bx, by, dx, dy)) return STOPPED
      } else if (isOneRing && i === ringFirst && j + 1 === ringLast) {
        if (foldsBack(cx, cy, ax, ay, bx, by)) return STOPPED
      } else if (findEdgeContact(ax, ay, bx, by, cx, cy, dx, dy) !== APART) {
        return STOPPED
      }
    }
  }
  return remaining
}

export function rootOffset({ levels }: EdgeTree): number {
  return 4 * levels[levels.length - 2]!
}

export function areBoxesApart(a: Float64Array, i: number, b: Float64Array, j: number): boolean {
  return a[i]! > b[j + 2]! || a[i + 2]! < b[j]! || a[i + 1]! > b[j + 3]! || a[i + 3]! < b[j + 1]!
}
