/**
 * Checks whether measures are defined for a valid polygon: the edges of each ring must be all geodesics or all whole parallels.
 */

import { type ProblemError, problemAt } from '../base/problem.ts'
import { findParallelCrossing } from '../geodesy/rims.ts'
import { type FlatGeometry, vertexPath } from '../geometry/flat.ts'
import type { PoleResolver } from '../geometry/pole-resolver.ts'
import { findRing, firstWholeParallel, hasWholeParallel, hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import { findAntimeridianHole } from '../topology/layout/seam-cuts.ts'
import type { Kernel } from '../wasm/loader.ts'

type Path = readonly (string | number)[]

/** A geodesic of w degrees between two positions on the parallel φ leaves it by 243 w² sin φ cos φ m, most at 45°. */
const HINT_PARALLEL =
  'put vertices along the parallel: one every 1° keeps the geodesics between them within 122 m of it, one every 0.1° within 1.3 m'
const HINT_SEAM_HOLE =
  'draw the hole over ±180 in one piece, without edges along ±180; if the exterior ring is cut at ±180, make the hole a notch in it'

/**
 * Rejects rings that mix whole parallels and geodesics, and geodesics that bulge over a whole parallel of another ring.
 *
 * @param geometry has whole parallels
 * @param hint for the problem of geodesics that cross
 * @param maxSolves number of exact solutions that the check may use
 * @throws {ProblemError} `invalid-input`, with the pointer of the edge
 * @throws {WorkLimitError} when the check needs more solutions
 */
export function checkParallels(
  geometry: FlatGeometry,
  path: Path,
  kernel: Kernel,
  hint: string,
  maxSolves: number,
): void {
  const mixed = findRing(geometry, ({ kind }) => kind === 'mixed')
  if (mixed !== undefined) {
    throw wholeParallelProblem(
      geometry,
      path,
      mixed,
      'the edges of a measured ring must be whole parallels or geodesics, not both',
    )
  }
  const crossing = findParallelCrossing(kernel, geometry, maxSolves)
  if (crossing === undefined) return
  const { sequence, vertex, lon, lat } = crossing
  const detail = `self-intersection at [${lon}, ${lat}]`
  throw problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex)], detail, {
    code: 'self-intersection',
    hint,
  })
}

/**
 * Returns a copy of the geometry in which every ring of whole parallels is shrunk to one of its vertices. Indices stay the same.
 * The copy serves to check the other rings; `checkParallels` has already compared them with the whole parallels.
 */
export function collapseBands(geometry: FlatGeometry): FlatGeometry {
  const { sequenceStarts, partStarts, partDimensions } = geometry
  const vertices = geometry.vertices.slice()
  for (let part = 0; part < partDimensions.length; part++) {
    if (partDimensions[part] !== 2) continue
    for (let sequence = partStarts[part]!; sequence < partStarts[part + 1]!; sequence++) {
      const [start, end] = [sequenceStarts[sequence]!, sequenceStarts[sequence + 1]!]
      if (!hasWholeTurn(vertices, start, end) || ringForm(vertices, start, end).kind !== 'band') continue
      for (let i = 2 * start + 2; i < 2 * end; i++) vertices[i] = vertices[i - 2]!
    }
  }
  return { ...geometry, vertices }
}

/**
 * Rejects holes with edges along the antimeridian that are not part of the boundary: a distance would end at them.
 *
 * @throws {ProblemError} `invalid-input`, with the pointer of the hole
 */
export function checkSeamHoles(geometry: FlatGeometry, path: Path, poleOf: PoleResolver): void {
  const hole = findAntimeridianHole(geometry, poleOf)
  if (hole === undefined) return
  const detail = 'this hole has edges along the antimeridian that are not a boundary: distances would end at them'
  throw problemAt('invalid-input', [...path, ...vertexPath(geometry, hole)], detail, {
    code: 'hole-at-antimeridian',
    hint: HINT_SEAM_HOLE,
  })
}

/**
 * Rejects whole parallels, and holes with edges along the antimeridian. Distances from such a geometry to lines and polygons are
 * not defined.
 *
 * @param what names the measure in the problem's detail, e.g. `verification`
 * @throws {ProblemError} `invalid-input`, with the pointer of the edge or hole
 */
export function checkGeodesicEdges(geometry: FlatGeometry, path: Path, poleOf: PoleResolver, what: string): void {
  if (hasWholeParallel(geometry)) throw noMeasureProblem(geometry, path, what)
  checkSeamHoles(geometry, path, poleOf)
}

/**
 * Makes the problem for a measure between a geometry with a whole parallel and anything but a point.
 *
 * @param geometry has a whole parallel
 * @param what names the measure in the problem's detail, e.g. `within`
 */
export function noMeasureProblem(geometry: FlatGeometry, path: Path, what: string): ProblemError {
  const sequence = findRing(geometry, ({ kind }) => kind !== 'ordinary')!
  return wholeParallelProblem(
    geometry,
    path,
    sequence,
    `${what} treats edges as geodesics, but this edge is a whole parallel`,
  )
}

function wholeParallelProblem(geometry: FlatGeometry, path: Path, sequence: number, detail: string): ProblemError {
  const { vertices, sequenceStarts } = geometry
  const start = sequenceStarts[sequence]!
  const vertex = firstWholeParallel(vertices, start, sequenceStarts[sequence + 1]!) - start
  return problemAt('invalid-input', [...path, ...vertexPath(geometry, sequence, vertex)], detail, {
    code: 'whole-parallel',
    hint: HINT_PARALLEL,
  })
}
