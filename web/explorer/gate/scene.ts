import type { LayerSpecification } from 'maplibre-gl'
import type { Geometry } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { circleAround, drawnFeatures } from '../geo/edges.ts'
import { type Box, boxOf } from '../geo/shape.ts'
import type { Scene, SceneSpecification } from '../map/base-map.ts'
import type { Palette } from '../map/palette.ts'
import type { Zone } from './zone.ts'

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const

export const GATE_SCENE: SceneSpecification = { name: 'gate', sources: { zone: EMPTY }, layers }

function layers(palette: Palette): LayerSpecification[] {
  const color = ['match', ['get', 'state'], 'open', palette.good, palette.first] as never
  const part = (name: string) => ['==', ['get', 'part'], name] as never
  return [
    {
      id: 'zone-area',
      type: 'fill',
      source: 'zone',
      filter: part('area'),
      paint: { 'fill-color': color, 'fill-opacity': 0.14 },
    },
    {
      id: 'zone-edge',
      type: 'line',
      source: 'zone',
      filter: part('edge'),
      paint: { 'line-color': color, 'line-width': 2 },
    },
  ]
}

/** Draws the zone: the circle around a point, or the shape itself with geodesic edges, from which `within` measures. */
export function drawZone(scene: Scene, zone: Zone, isOpen: boolean, kernel: Kernel): void {
  scene.setData('zone', drawnFeatures(kernel, outline(zone, kernel), 'geodesic', { state: isOpen ? 'open' : 'closed' }))
}

/** Returns the box of the zone and a geometry. */
export function boxOfZone(zone: Zone, point: Geometry, kernel: Kernel): Box | undefined {
  return boxOf([outline(zone, kernel), point])
}

function outline({ target, radiusMeters }: Zone, kernel: Kernel): Geometry {
  if (target.type !== 'Point') return target
  const [longitude, latitude] = target.coordinates
  const ring = circleAround(kernel, [longitude, latitude], radiusMeters, 128)
  return { type: 'Polygon', coordinates: [ring.map(([x, y]): [number, number] => [x, y])] }
}
