/** Which valid polygons measures are defined for: those whose edges are all geodesics, or all whole parallels. */
import { findRimCrossing } from '../geodesy/rims.ts'
import { type FlatGeometry, placeOf } from '../geometry/flat.ts'
import { findRing, firstWholeParallel, hasWholeParallel, hasWholeTurn, ringForm } from '../geometry/whole-parallels.ts'
import { type ProblemError, problemAt } from '../problem.ts'
import { findSeamHole } from '../topology/seam-cuts.ts'
import type { PoleOf } from '../topology/unwrap.ts'
import type { Kernel } from '../wasm/loader.ts'

type Path = readonly (string | number)[]

/** A geodesic of w degrees between two positions on the parallel φ leaves it by 243 w² sin φ cos φ m, most at 45°. */
const HINT_PARALLEL =
  'put vertices along the parallel: one every 1° keeps the geodesics between them within 122 m of it, one every 0.1° within 1.3 m'
const HINT_SEAM_HOLE =
  'draw the hole over ±180 in one piece, without edges along ±180; if the exterior ring is cut at ±180, make the hole a notch in it'

/**
 * Refuses rings in which whole parallels and geodesics bound one area together, and geodesics that bulge over a whole parallel
 * of another ring.
 *
 * @param geometry has whole parallels
 * @param hint for geodesics that cross
 * @param maxSolves exact solutions that it may cost
 * @throws {ProblemError} `invalid-input` that names the edge
 * @throws {WorkLimitError} when it costs more
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
    throw refused(geometry, path, mixed, 'a ring that is measured has whole parallels or geodesics, not both')
  }
  const crossing = findRimCrossing(kernel, geometry, maxSolves)
  if (crossing === undefined) return
  const { sequence, vertex, lon, lat } = crossing
  const detail = `self-intersection at [${lon}, ${lat}]`
  throw problemAt('invalid-input', [...path, ...placeOf(geometry, sequence, vertex)], detail, {
    code: 'self-intersection',
    hint,
  })
}

/**
 * The same geometry with every ring of whole parallels shrunk to one of its vertices, for the judgement of the other rings: they
 * were compared with whole parallels before (`checkParallels`). Indices stay the same.
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
 * Refuses polygons of which a distance would find edges along the antimeridian that are no boundary, in a hole.
 *
 * @throws {ProblemError} `invalid-input` that names the hole
 */
export function checkSeamHoles(geometry: FlatGeometry, path: Path, poleOf: PoleOf): void {
  const hole = findSeamHole(geometry, poleOf)
  if (hole === undefined) return
  const detail = 'edges along the antimeridian, which are no boundary, lie in this hole: distances would end at them'
  throw problemAt('invalid-input', [...path, ...placeOf(geometry, hole)], detail, {
    code: 'hole-at-antimeridian',
    hint: HINT_SEAM_HOLE,
  })
}

/**
 * Refuses what distances to anything but a point are not defined for: whole parallels, and edges along the antimeridian in holes.
 *
 * @param what measures, e.g. `verification`
 * @throws {ProblemError} `invalid-input` that names the place
 */
export function checkGeodesicEdges(geometry: FlatGeometry, path: Path, poleOf: PoleOf, what: string): void {
  if (hasWholeParallel(geometry)) throw noMeasure(geometry, path, what)
  checkSeamHoles(geometry, path, poleOf)
}

/**
 * The refusal of a measure between a geometry with an edge along a whole parallel and anything but a point.
 *
 * @param geometry has such an edge
 * @param what is asked for, e.g. `within`
 */
export function noMeasure(geometry: FlatGeometry, path: Path, what: string): ProblemError {
  const sequence = findRing(geometry, ({ kind }) => kind !== 'ordinary')!
  return refused(geometry, path, sequence, `${what} reads edges as geodesics, and this one is a whole parallel`)
}

function refused(geometry: FlatGeometry, path: Path, sequence: number, detail: string): ProblemError {
  const { vertices, sequenceStarts } = geometry
  const start = sequenceStarts[sequence]!
  const vertex = firstWholeParallel(vertices, start, sequenceStarts[sequence + 1]!) - start
  return problemAt('invalid-input', [...path, ...placeOf(geometry, sequence, vertex)], detail, {
    code: 'whole-parallel',
    hint: HINT_PARALLEL,
  })
}
