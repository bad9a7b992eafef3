import type { FlatGeometry } from '../geometry/flat.ts'
import type { PoleResolver } from '../geometry/pole-resolver.ts'
import { UndecidableError } from './exact/undecidable.ts'
import { crossingFault, type Invalidity } from './invalidity.ts'
import { addShiftedCopies, buildElementRings, type ElementRings } from './layout/element-rings.ts'
import { CROSS, joinBudget, joinEdges } from './plane/edge-join.ts'
import { EdgeTree } from './plane/edge-tree.ts'
import { type Topology, toPrepared } from './plane/prepared.ts'
import { isProvablyValid } from './plane/validity-proof.ts'
import { ValiditySweep } from './sweep/ring-sweep.ts'

/**
 * Finds the first fault in the polygons of a geometry by the rules of RFC 7946 and OGC: rings are simple, holes lie inside,
 * interiors are connected (except by a hole around the whole globe, which leaves two caps or bands: every operation has a defined
 * result for them), and members of a MultiPolygon touch only at points. Elements of a collection are checked
 * separately; lines and points have no faults. Neither repeated vertices nor the orientation are faults.
 *
 * The decision is exact and takes O(n log n). Edges along a pole do not count. A polygon that would cost too much to decide is
 * reported as a fault too.
 *
 * @param topology closed rings of at least 4 positions, as received or prepared
 * @param resolvePole is called for rings that wind around the axis
 */
export function findInvalidity(topology: Topology, resolvePole: PoleResolver): Invalidity | undefined {
  const prepared = toPrepared(topology)
  const { geometry } = prepared
  for (let element = 0; element < geometry.elementTypes.length; element++) {
    if (!geometry.elementTypes[element]!.endsWith('Polygon')) continue
    if (isProvablyValid(prepared, element)) continue
    const invalidity = checkElement(geometry, element, resolvePole)
    if (invalidity !== undefined) return invalidity
  }
  return undefined
}

function checkElement(geometry: FlatGeometry, element: number, resolvePole: PoleResolver): Invalidity | undefined {
  let elementRings: ElementRings | undefined
  try {
    const rings = buildElementRings(geometry, element, resolvePole)
    if ('reason' in rings) return rings
    elementRings = rings
    const invalidity = findInvalidityBySweep(elementRings)
    return invalidity === undefined ? undefined : (findCrossing(elementRings) ?? invalidity)
  } catch (error) {
    // Thrown for rings that wind around the axis hundreds of times, or cross the closing edges over a pole 20,000 times.
    if (!(error instanceof UndecidableError)) throw error
    const crossing = elementRings === undefined ? undefined : findCrossing(elementRings)
    if (crossing !== undefined) return crossing
    const sequence = geometry.partStarts[geometry.elementStarts[element]!]!
    const first = 2 * geometry.sequenceStarts[sequence]!
    const location = { lon: geometry.vertices[first]!, lat: geometry.vertices[first + 1]! }
    return { reason: 'too intricate around the axis', ...location, sequence, vertex: 0 }
  }
}

/**
 * Looks for the first crossing of two edges, in the order in which the edges were received. A client finds it more easily than the
 * westernmost fault, and it says more than "too intricate". The effort is limited, so the result may be a later crossing, or none.
 */
function findCrossing({ segments, rings }: ElementRings): Invalidity | undefined {
  const { positions, left, right } = segments
  const { x, lat, count } = positions
  const vertices = new Float64Array(2 * count)
  const segmentAt = new Int32Array(count).fill(-1)
  for (let i = 0; i < count; i++) {
    vertices[2 * i] = x[i]!
    vertices[2 * i + 1] = lat[i]!
  }
  for (let s = 0; s < segments.count; s++) {
    if (segments.isReal(s)) segmentAt[Math.min(left[s]!, right[s]!)] = s
  }
  const starts = [0]
  for (const { unwrapped } of rings) starts.push(starts[starts.length - 1]! + unwrapped.lon.length)
  const tree = new EdgeTree({ vertices, sequenceStarts: Uint32Array.from(starts) })
  const areOnBothSides = (s: number, t: number): boolean =>
    positions.orientation(left[s]!, right[s]!, left[t]!) * positions.orientation(left[s]!, right[s]!, right[t]!) < 0
  let first: readonly [s: number, t: number] | undefined
  joinEdges(tree, tree, joinBudget(count), (contact, i, j) => {
    const [s, t] = [segmentAt[i]!, segmentAt[j]!]
    if (contact !== CROSS || s < 0 || t < s) return true
    if (first !== undefined && (s > first[0] || (s === first[0] && t > first[1]))) return true
    // Longitudes on the cylinder are rounded, so the segments decide.
    if (areOnBothSides(s, t) && areOnBothSides(t, s)) first = [s, t]
    return true
  })
  return first && crossingFault(segments, ...first)
}

/**
 * Checks the rings by a sweep, which handles every ring and names the fault.
 *
 * @param elementRings without shifted copies
 */
export function findInvalidityBySweep(elementRings: ElementRings): Invalidity | undefined {
  if (!elementRings.segments.positions.planar) addShiftedCopies(elementRings)
  return new ValiditySweep(elementRings).findFault()
}
