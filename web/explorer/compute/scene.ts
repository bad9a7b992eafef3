/** Draws the request on the map. */
import type { LayerSpecification } from 'maplibre-gl'
import type { BatchResult, Geometry } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { circleAround, type DrawnFeature, drawnFeatures } from '../geo/edges.ts'
import { linkBetween } from '../geo/link.ts'
import { type Box, boxOf } from '../geo/shape.ts'
import type { Scene, SceneSpecification } from '../map/base-map.ts'
import type { Palette } from '../map/palette.ts'
import type { BatchRow } from './batch-file.ts'
import { geometryOf, inputsOf, type RequestDraft, readingOf } from './request-draft.ts'

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const

export const COMPUTE_SCENE: SceneSpecification = {
  name: 'compute',
  sources: { batch: EMPTY, made: EMPTY, shapes: EMPTY, link: EMPTY },
  layers,
}

function layers(palette: Palette): LayerSpecification[] {
  const color = ['match', ['get', 'slot'], 'b', palette.second, palette.first] as never
  const part = (name: string) => ['==', ['get', 'part'], name] as never
  const isMain = ['==', ['get', 'role'], 'main'] as never
  const isType = (name: string) => ['==', ['geometry-type'], name] as never
  const between = ['interpolate', ['linear'], ['get', 'share'], 0, palette.good, 1, palette.second]
  const batch = ['case', ['has', 'share'], between, palette.quiet] as never
  return [
    {
      id: 'batch-area',
      type: 'fill',
      source: 'batch',
      filter: isType('Polygon'),
      paint: { 'fill-color': batch, 'fill-opacity': 0.3 },
    },
    {
      id: 'batch-edge',
      type: 'line',
      source: 'batch',
      filter: ['!', isType('Point')],
      paint: { 'line-color': batch, 'line-width': 1.5 },
    },
    {
      id: 'batch-point',
      type: 'circle',
      source: 'batch',
      filter: isType('Point'),
      paint: {
        'circle-color': batch,
        'circle-radius': 4.5,
        'circle-stroke-color': palette.raised,
        'circle-stroke-width': 1,
      },
    },
    {
      id: 'made-area',
      type: 'fill',
      source: 'made',
      filter: part('area'),
      paint: { 'fill-color': palette.good, 'fill-opacity': 0.2 },
    },
    {
      id: 'made-edge',
      type: 'line',
      source: 'made',
      filter: part('edge'),
      paint: { 'line-color': palette.good, 'line-width': 2 },
    },
    {
      id: 'made-point',
      type: 'circle',
      source: 'made',
      filter: part('point'),
      paint: {
        'circle-color': palette.good,
        'circle-radius': 5,
        'circle-stroke-color': palette.raised,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'shape-area',
      type: 'fill',
      source: 'shapes',
      filter: ['all', part('area'), isMain],
      paint: { 'fill-color': color, 'fill-opacity': 0.16 },
    },
    {
      id: 'shape-other',
      type: 'line',
      source: 'shapes',
      filter: ['all', part('edge'), ['==', ['get', 'role'], 'other']],
      paint: { 'line-color': color, 'line-width': 1.2, 'line-dasharray': [3, 3], 'line-opacity': 0.8 },
    },
    {
      id: 'shape-ring',
      type: 'line',
      source: 'shapes',
      filter: ['all', part('edge'), ['==', ['get', 'role'], 'ring']],
      paint: { 'line-color': palette.second, 'line-width': 1.5, 'line-dasharray': [1.5, 2] },
    },
    {
      id: 'shape-edge',
      type: 'line',
      source: 'shapes',
      filter: ['all', part('edge'), isMain],
      layout: { 'line-join': 'round', 'line-cap': 'round' },
      paint: { 'line-color': color, 'line-width': 2.5 },
    },
    {
      id: 'shape-point',
      type: 'circle',
      source: 'shapes',
      filter: ['all', part('point'), isMain],
      paint: {
        'circle-color': color,
        'circle-radius': 5,
        'circle-stroke-color': palette.raised,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'link-other',
      type: 'line',
      source: 'link',
      filter: ['==', ['get', 'role'], 'other'],
      paint: { 'line-color': palette.quiet, 'line-width': 1.2, 'line-dasharray': [3, 3] },
    },
    {
      id: 'link',
      type: 'line',
      source: 'link',
      filter: isMain,
      layout: { 'line-cap': 'round' },
      paint: { 'line-color': palette.ink, 'line-width': 2.5 },
    },
  ]
}

/**
 * Draws the inputs: full lines for the reading of edges that the operation uses, dashed lines for the other one.
 *
 * @param meets whether the two inputs share a point; then there is no line between them
 */
export function drawInputs(scene: Scene, draft: RequestDraft, kernel: Kernel, meets: boolean): void {
  const features: DrawnFeature[] = []
  const reading = readingOf(draft)
  const other = reading === 'geodesic' ? 'planar' : 'geodesic'
  for (const [index, input] of inputsOf(draft).entries()) {
    const geometry = geometryOf(input)
    if (geometry === undefined) continue
    const slot = 'ab'[index]!
    features.push(...drawnFeatures(kernel, geometry, reading, { slot, role: 'main' }))
    features.push(...drawnFeatures(kernel, geometry, other, { slot, role: 'other' }))
  }
  scene.setData('shapes', [...features, ...ringOf(draft, kernel)])
  scene.setData('link', meets ? [] : linkOf(draft, kernel))
}

/** Draws geometries that the page has made from the inputs. */
export function drawMade(scene: Scene, shapes: readonly Geometry[], kernel: Kernel): void {
  scene.setData(
    'made',
    shapes.flatMap((shape) => drawnFeatures(kernel, shape, 'geodesic', {})),
  )
}

/**
 * Draws the rows of a file. Their colour goes from the smallest to the largest result; true is drawn as the smallest. Rows
 * without a result are grey.
 */
export function drawBatch(
  scene: Scene,
  rows: readonly BatchRow[],
  results: readonly (BatchResult | undefined)[],
): void {
  const values = results.map((result) => {
    const value = result?.result
    return typeof value === 'boolean' ? Number(!value) : value
  })
  const known = values.filter((value) => value !== undefined)
  const [low, high] = known.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity])
  const features = rows.flatMap(({ geometry }, index) => {
    const value = values[index]
    const properties = value === undefined ? {} : { share: high > low ? (value - low) / (high - low) : 0 }
    return geometry === undefined ? [] : [{ type: 'Feature', properties, geometry }]
  })
  scene.setData('batch', features)
}

/** The circle around the target of `within`, if the target is a point. */
function ringOf(draft: RequestDraft, kernel: Kernel): DrawnFeature[] {
  const target = geometryOf(draft.b)
  if (draft.operation !== 'within' || target?.type !== 'Point') return []
  const [longitude, latitude] = target.coordinates
  const ring = circleAround(kernel, [longitude, latitude], draft.radiusMeters, 128)
  const geometry = { type: 'LineString' as const, coordinates: ring.map(([x, y]): [number, number] => [x, y]) }
  return drawnFeatures(kernel, geometry, 'planar', { slot: 'b', role: 'ring' })
}

/** The shortest line between the two inputs. */
function linkOf(draft: RequestDraft, kernel: Kernel): DrawnFeature[] {
  if (draft.operation !== 'distance' && draft.operation !== 'within') return []
  const [a, b] = [geometryOf(draft.a), geometryOf(draft.b)]
  const ends = a === undefined || b === undefined ? undefined : linkBetween(kernel, a, b)
  if (ends === undefined) return []
  const line = { type: 'LineString' as const, coordinates: ends.map(([x, y]): [number, number] => [x, y]) }
  return [
    ...drawnFeatures(kernel, line, 'geodesic', { role: 'main' }),
    ...drawnFeatures(kernel, line, 'planar', { role: 'other' }),
  ]
}

/** Returns the bounding box of the drawing. A geodesic may run far outside the box of its end points. */
export function extentOf(draft: RequestDraft, kernel: Kernel): Box | undefined {
  const reading = readingOf(draft)
  const features = [...linkOf(draft, kernel), ...ringOf(draft, kernel)]
  for (const input of inputsOf(draft)) {
    const geometry = geometryOf(input)
    if (geometry !== undefined) features.push(...drawnFeatures(kernel, geometry, reading, {}))
  }
  // Skips the areas, because their edges are features too.
  const parts = features.flatMap(({ geometry: { type, coordinates } }): Geometry[] => {
    return type === 'Polygon' ? [] : [{ type, coordinates } as Geometry]
  })
  return boxOf(parts)
}
