import type { Geometry, Position } from '../src/types/generated.ts'

/** Shapes whose boxes all overlap, or whose edges almost touch: the worst cases for predicates. */

export function polygon(...coordinates: Position[][]): Geometry {
  return { type: 'Polygon', coordinates }
}

export function closed(ring: Position[]): Position[] {
  return [...ring, ring[0]!]
}

/** A ring of spikes around a center; half of its vertices are near the center. */
export function star(count: number, inner = 1, turn = 0): Position[] {
  return closed(
    Array.from({ length: count }, (_, i): Position => {
      const angle = (2 * Math.PI * (i + turn)) / count
      const radius = i % 2 === 1 ? 10 : inner
      return [radius * Math.cos(angle), radius * Math.sin(angle)]
    }),
  )
}

/** A comb of long thin teeth. It interlocks with the comb of the other side without touching it. */
export function comb(teeth: number, side: 1 | -1): Position[] {
  const pitch = 10 / teeth
  const ring: Position[] = []
  for (let i = 0; i < teeth; i++) {
    const y = i * pitch + (side > 0 ? pitch / 2 : 0)
    ring.push(
      [side * 10, y],
      [-side * 9, y + 0.05 * pitch],
      [-side * 9, y + 0.2 * pitch],
      [side * 10, y + 0.25 * pitch],
    )
  }
  return closed([...ring, [side * 11, 10], [side * 11, 0]])
}

/** Turns a ring by 45 degrees, so that the box of every tooth overlaps the boxes of all others. */
export function slanting(ring: Position[]): Position[] {
  return ring.map(([x, y]): Position => [3 * (x + y), 3 * (y - x)])
}

/** A strip wound around a center. */
export function spiral(count: number, turns: number, isMirrored = false): Position[] {
  const arm = (width: number): Position[] =>
    Array.from({ length: count / 2 }, (_, i): Position => {
      const angle = (i / (count / 2)) * turns * 2 * Math.PI
      const radius = (isMirrored ? -0.01 : 0.01) * (1 + angle + width)
      return [radius * Math.cos(angle), radius * Math.sin(angle)]
    })
  return closed([...arm(0), ...arm(2).reverse()])
}
