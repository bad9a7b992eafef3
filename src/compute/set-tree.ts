/** The index of a set: a packed Hilbert R-tree over boxes of features, and trees of edges for large features. */
import { computeBounds } from '../geometry/bounds.ts'
import type { FlatGeometry } from '../geometry/flat.ts'
import type { PoleResolver } from '../geometry/pole-resolver.ts'
import { EdgeTree } from '../topology/plane/edge-tree.ts'
import type { Geometry } from '../types/generated.ts'
import { SET_TYPES, type SetFeatures, type SetTrees } from '../wire/set-messages.ts'

/** Children of a node. */
const NODE_SIZE = 16
/** Features with fewer vertices have no tree of edges: comparing with each edge is faster. */
export const MIN_TREE_VERTICES = 64
const RADIANS = Math.PI / 180
const EQUATOR_METERS = 6_378_137
/** Less than the metres of a degree of latitude anywhere. */
const METERS_PER_DEGREE = 110_500

/** Returns the geometry of a feature. Its vertices are a view; its offsets are copies. */
export function featureGeometry(
  { vertices, sequenceStarts, partStarts, featureStarts, types }: SetFeatures,
  feature: number,
): FlatGeometry {
  const [firstPart, endPart] = [featureStarts[feature]!, featureStarts[feature + 1]!]
  const [firstSequence, endSequence] = [partStarts[firstPart]!, partStarts[endPart]!]
  const [first, end] = [sequenceStarts[firstSequence]!, sequenceStarts[endSequence]!]
  const type = SET_TYPES[types[feature]!]!
  const parts = endPart - firstPart
  return {
    type,
    vertices: vertices.subarray(2 * first, 2 * end),
    sequenceStarts: relative(sequenceStarts, firstSequence, endSequence),
    partStarts: relative(partStarts, firstPart, endPart),
    partDimensions: new Uint8Array(parts).fill(dimensionOf(types[feature]!)),
    elementStarts: Uint32Array.of(0, parts),
    elementTypes: [type],
    elementPaths: NO_PATHS,
  }
}

const NO_PATHS: readonly (readonly string[])[] = [[]]

function relative(starts: Uint32Array, from: number, to: number): Uint32Array {
  const copy = starts.slice(from, to + 1)
  const first = copy[0]!
  for (let i = 0; i < copy.length; i++) copy[i]! -= first
  return copy
}

/** @param type index in `SET_TYPES`, in which each dimension has two */
export function dimensionOf(type: number): 0 | 1 | 2 {
  return (type >> 1) as 0 | 1 | 2
}

/** Returns the GeoJSON of a geometry of one element. */
export function featureGeoJson({ type, vertices, sequenceStarts, partStarts, partDimensions }: FlatGeometry): Geometry {
  const sequence = (index: number): number[][] =>
    Array.from({ length: sequenceStarts[index + 1]! - sequenceStarts[index]! }, (_, i) => {
      const at = 2 * (sequenceStarts[index]! + i)
      return [vertices[at]!, vertices[at + 1]!]
    })
  const part = (index: number): unknown => {
    const sequences = Array.from({ length: partStarts[index + 1]! - partStarts[index]! }, (_, i) =>
      sequence(partStarts[index]! + i),
    )
    if (partDimensions[index] === 2) return sequences
    return partDimensions[index] === 1 ? sequences[0] : sequences[0]![0]
  }
  const parts = Array.from(partDimensions, (_, index) => part(index))
  return { type, coordinates: type.startsWith('Multi') ? parts : parts[0] } as Geometry
}

export function countVertices({ sequenceStarts, partStarts, featureStarts }: SetFeatures, feature: number): number {
  const first = sequenceStarts[partStarts[featureStarts[feature]!]!]!
  return sequenceStarts[partStarts[featureStarts[feature + 1]!]!]! - first
}

/** Builds the index of features. Its arrays are shared memory. */
export function buildSetTrees(features: SetFeatures, resolvePole: PoleResolver): SetTrees {
  const count = features.types.length
  const own = new Float32Array(4 * count)
  const box = new Float64Array(4)
  for (let feature = 0; feature < count; feature++) {
    boundFeature(features, feature, resolvePole, box)
    own[4 * feature] = roundDown(box[0]!)
    own[4 * feature + 1] = roundDown(box[1]!)
    own[4 * feature + 2] = -roundDown(-box[2]!)
    own[4 * feature + 3] = -roundDown(-box[3]!)
  }
  const order = hilbertOrder(own, count)
  const boxes = new Float32Array(new SharedArrayBuffer(16 * countNodes(count)))
  const leafFeatures = new Uint32Array(new SharedArrayBuffer(4 * count))
  order.forEach((feature, leaf) => {
    leafFeatures[leaf] = feature
    boxes.set(own.subarray(4 * feature, 4 * feature + 4), 4 * leaf)
  })
  const levels = setLevels(count)
  for (let level = 1; level < levels.length - 1; level++) {
    const [below, start, end] = [levels[level - 1]!, levels[level]!, levels[level + 1]!]
    for (let node = start; node < end; node++) {
      const from = below + NODE_SIZE * (node - start)
      const to = Math.min(from + NODE_SIZE, start)
      let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
      for (let i = 4 * from; i < 4 * to; i += 4) {
        west = Math.min(west, boxes[i]!)
        south = Math.min(south, boxes[i + 1]!)
        east = Math.max(east, boxes[i + 2]!)
        north = Math.max(north, boxes[i + 3]!)
      }
      boxes.set([west, south, east, north], 4 * node)
    }
  }
  return { boxes, leafFeatures, ...buildEdgeTrees(features) }
}

/** Returns the first node of each level of a tree over some features, and the number of nodes. */
export function setLevels(count: number): number[] {
  const levels = [0]
  let nodes = 0
  for (let size = count; ; size = Math.ceil(size / NODE_SIZE)) {
    nodes += size
    levels.push(nodes)
    if (size <= 1) return levels
  }
}

/** Returns the nodes below a node: the first, and the one after the last. @param node index among those of its level */
export function childrenOf(levels: readonly number[], level: number, node: number): readonly [number, number] {
  const size = levels[level]! - levels[level - 1]!
  return [NODE_SIZE * node, Math.min(NODE_SIZE * (node + 1), size)]
}

function countNodes(count: number): number {
  return setLevels(count).at(-1)!
}

/**
 * Finds a box that holds a feature, whether its edges are straight in longitude and latitude or geodesics. A feature that crosses
 * ±180, or reaches it or a pole, has all longitudes.
 *
 * @param box gets west, south, east, north
 */
export function boundFeature(
  features: SetFeatures,
  feature: number,
  resolvePole: PoleResolver,
  box: Float64Array,
): void {
  const { vertices, sequenceStarts, partStarts, featureStarts, types } = features
  const [firstSequence, endSequence] = [partStarts[featureStarts[feature]!]!, partStarts[featureStarts[feature + 1]!]!]
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  let bulge = 0
  let isGlobal = false
  for (let sequence = firstSequence; sequence < endSequence; sequence++) {
    const start = 2 * sequenceStarts[sequence]!
    const end = 2 * sequenceStarts[sequence + 1]!
    for (let i = start; i < end; i += 2) {
      const lon = vertices[i]!
      const lat = vertices[i + 1]!
      if (lon < west) west = lon
      if (lon > east) east = lon
      if (lat < south) south = lat
      if (lat > north) north = lat
      if (i === start) continue
      const difference = Math.abs(lon - vertices[i - 2]!)
      if (difference >= 180) isGlobal = true
      // Longer edges take the short way; those of 360° are parallels, or lie at a pole.
      const width = difference > 180 ? 360 - difference : difference
      bulge = Math.max(bulge, bulgeMeters(width, vertices[i - 1]!, lat))
    }
  }
  if (types[feature]! >> 1 === 0) bulge = 0
  if (isGlobal || west === -180 || east === 180 || south === -90 || north === 90) {
    west = -180
    east = 180
    // It may go around a pole.
    if (isGlobal) {
      const geometry = featureGeoJson(featureGeometry(features, feature))
      const bounds = computeBounds(geometry, resolvePole)
      south = bounds[1]
      north = bounds[3]
    }
  }
  const margin = bulge / METERS_PER_DEGREE
  box[0] = west
  box[1] = Math.max(-90, south - margin)
  box[2] = east
  box[3] = Math.min(90, north + margin)
}

/**
 * Returns more than the distance of a geodesic edge from the latitudes of its ends. No place of an edge is farther from both ends than
 * half of its length; short edges leave their latitudes by less (decision 94).
 *
 * @param width degrees of longitude
 */
function bulgeMeters(width: number, lat1: number, lat2: number): number {
  if (width === 0) return 0
  const nearest = Math.min(Math.abs(lat1), Math.abs(lat2))
  const dx = width * RADIANS * (lat1 * lat2 < 0 ? 1 : Math.cos(nearest * RADIANS))
  const length = 1.01 * EQUATOR_METERS * Math.hypot(dx, (lat2 - lat1) * RADIANS)
  const farthest = Math.max(Math.abs(lat1), Math.abs(lat2)) + length / METERS_PER_DEGREE
  if (length > 1e6 || farthest > 89) return length / 2
  return Math.min(length / 2, (1.3 * length ** 2 * Math.tan(farthest * RADIANS)) / (8 * EQUATOR_METERS))
}

const ROUNDED = new Float32Array(1)
const BITS = new Int32Array(ROUNDED.buffer)

/** Returns the largest 32-bit float that is not above a number. */
function roundDown(value: number): number {
  ROUNDED[0] = value
  if (ROUNDED[0] > value) {
    // The bits of a float, read as an integer, grow with its magnitude.
    if (ROUNDED[0] === 0) return -1.401298464324817e-45
    BITS[0] = BITS[0]! + (ROUNDED[0] > 0 ? -1 : 1)
  }
  return ROUNDED[0]!
}

/** Returns the features in the order of the Hilbert values of the centres of their boxes. */
function hilbertOrder(boxes: Float32Array, count: number): Uint32Array {
  // A double holds the value and the feature, and sorting doubles needs no function.
  const keys = new Float64Array(count)
  for (let feature = 0; feature < count; feature++) {
    const lon = (boxes[4 * feature]! + boxes[4 * feature + 2]!) / 2
    const lat = (boxes[4 * feature + 1]! + boxes[4 * feature + 3]!) / 2
    const x = Math.max(0, Math.min(32_767, Math.floor(((lon + 180) / 360) * 32_768)))
    const y = Math.max(0, Math.min(32_767, Math.floor(((lat + 90) / 180) * 32_768)))
    keys[feature] = hilbert(x, y) * 2 ** 22 + feature
  }
  keys.sort()
  return Uint32Array.from(keys, (key) => key % 2 ** 22)
}

/** Returns the position of a cell on the Hilbert curve through 2¹⁵ × 2¹⁵ cells. */
function hilbert(x: number, y: number): number {
  let position = 0
  for (let side = 16_384; side > 0; side >>= 1) {
    const isRight = (x & side) > 0 ? 1 : 0
    const isUpper = (y & side) > 0 ? 1 : 0
    position += side * side * ((3 * isRight) ^ isUpper)
    if (isUpper === 0) {
      if (isRight === 1) {
        x = side - 1 - (x & (side - 1))
        y = side - 1 - (y & (side - 1))
      }
      const swapped = x
      x = y
      y = swapped
    }
  }
  return position
}

function buildEdgeTrees(features: SetFeatures): Omit<SetTrees, 'boxes' | 'leafFeatures'> {
  const large: number[] = []
  for (let feature = 0; feature < features.types.length; feature++)
    if (dimensionOf(features.types[feature]!) > 0 && countVertices(features, feature) >= MIN_TREE_VERTICES)
      large.push(feature)
  const treeLeafStarts = new Uint32Array(new SharedArrayBuffer(4 * (large.length + 1)))
  const treeNodeStarts = new Uint32Array(new SharedArrayBuffer(4 * (large.length + 1)))
  // Counted first, so that only one tree at a time is in memory twice.
  for (const [index, feature] of large.entries()) {
    const { leafCount, boxes } = new EdgeTree(featureGeometry(features, feature))
    treeLeafStarts[index + 1] = treeLeafStarts[index]! + leafCount
    treeNodeStarts[index + 1] = treeNodeStarts[index]! + boxes.length / 4
  }
  const leaves = treeLeafStarts[large.length]!
  const edgeBoxes = new Float64Array(new SharedArrayBuffer(32 * treeNodeStarts[large.length]!))
  const [edgeLeafFirst, edgeLeafLast, edgeLeafSequence] = [0, 1, 2].map(
    () => new Int32Array(new SharedArrayBuffer(4 * leaves)),
  ) as [Int32Array, Int32Array, Int32Array]
  for (const [index, feature] of large.entries()) {
    const tree = new EdgeTree(featureGeometry(features, feature))
    edgeBoxes.set(tree.boxes, 4 * treeNodeStarts[index]!)
    edgeLeafFirst.set(tree.leafFirst, treeLeafStarts[index]!)
    edgeLeafLast.set(tree.leafLast, treeLeafStarts[index]!)
    edgeLeafSequence.set(tree.leafSequence, treeLeafStarts[index]!)
  }
  const treeFeatures = new Uint32Array(new SharedArrayBuffer(4 * large.length))
  treeFeatures.set(large)
  return { treeFeatures, treeLeafStarts, treeNodeStarts, edgeBoxes, edgeLeafFirst, edgeLeafLast, edgeLeafSequence }
}

/** Returns the tree of edges of a feature; undefined if it has none. */
export function featureEdgeTree(trees: SetTrees, feature: number, geometry: FlatGeometry): EdgeTree | undefined {
  const { treeFeatures, treeLeafStarts, treeNodeStarts } = trees
  let low = 0
  let high = treeFeatures.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (treeFeatures[middle]! < feature) low = middle + 1
    else high = middle
  }
  if (treeFeatures[low] !== feature) return undefined
  const [leaf, endLeaf] = [treeLeafStarts[low]!, treeLeafStarts[low + 1]!]
  return new EdgeTree(geometry, 0, geometry.sequenceStarts.length - 1, {
    boxes: trees.edgeBoxes.subarray(4 * treeNodeStarts[low]!, 4 * treeNodeStarts[low + 1]!),
    leafFirst: trees.edgeLeafFirst.subarray(leaf, endLeaf),
    leafLast: trees.edgeLeafLast.subarray(leaf, endLeaf),
    leafSequence: trees.edgeLeafSequence.subarray(leaf, endLeaf),
  })
}
