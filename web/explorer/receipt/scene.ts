/** Draws the inputs that a receipt claims. */
import type { LayerSpecification } from 'maplibre-gl'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { drawnFeatures, type Reading } from '../geo/edges.ts'
import { type Box, boxOf } from '../geo/shape.ts'
import type { Scene, SceneSpecification } from '../map/base-map.ts'
import type { Palette } from '../map/palette.ts'
import type { ShownInput } from './shown-inputs.ts'

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const

/** A receipt may have private inputs, and its page says that it sends nothing of the receipt. So the map has no streets. */
export const RECEIPT_SCENE: SceneSpecification = {
  name: 'receipt',
  sources: { claimed: EMPTY },
  layers,
  hasStreets: false,
}

function layers(palette: Palette): LayerSpecification[] {
  const color = ['match', ['get', 'slot'], 'B', palette.second, palette.first] as never
  const part = (name: string) => ['==', ['get', 'part'], name] as never
  const source = 'claimed'
  return [
    {
      id: 'claimed-area',
      type: 'fill',
      source,
      filter: part('area'),
      paint: { 'fill-color': color, 'fill-opacity': 0.18 },
    },
    { id: 'claimed-edge', type: 'line', source, filter: part('edge'), paint: { 'line-color': color, 'line-width': 2 } },
    {
      id: 'claimed-point',
      type: 'circle',
      source,
      filter: part('point'),
      paint: {
        'circle-color': color,
        'circle-radius': 6,
        'circle-stroke-color': palette.raised,
        'circle-stroke-width': 2,
      },
    },
  ]
}

/** Operations that read edges as geodesics; all others read them as straight in longitude and latitude. */
const ON_GEODESICS = /^(?:distance|length|area|within\b)|:geodesic$/

export function drawInputs(
  scene: Scene,
  shown: readonly ShownInput[],
  operation: string | undefined,
  kernel: Kernel,
): void {
  const reading: Reading = operation !== undefined && ON_GEODESICS.test(operation) ? 'geodesic' : 'planar'
  scene.setData(
    'claimed',
    shown.flatMap(({ letter, geometry }) => drawnFeatures(kernel, geometry, reading, { slot: letter })),
  )
}

/** Half the side of the box around a single point, in degrees. */
const MARGIN_DEGREES = 0.01

export function extentOf(shown: readonly ShownInput[]): Box | undefined {
  const box = boxOf(shown.map(({ geometry }) => geometry))
  if (box === undefined || box[0] !== box[2] || box[1] !== box[3]) return box
  return [box[0] - MARGIN_DEGREES, box[1] - MARGIN_DEGREES, box[2] + MARGIN_DEGREES, box[3] + MARGIN_DEGREES]
}
