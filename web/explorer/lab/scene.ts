import type { LayerSpecification } from 'maplibre-gl'
import type { VerifyProofResponse } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { along, circleAround } from '../geo/edges.ts'
import type { LonLat } from '../geo/shape.ts'
import type { Scene, SceneSpecification } from '../map/base-map.ts'
import type { Palette } from '../map/palette.ts'
import type { LabState } from './evidence.ts'

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const

export const LAB_SCENE: SceneSpecification = { name: 'lab', sources: { claim: EMPTY, stamps: EMPTY }, layers }

function layers(palette: Palette): LayerSpecification[] {
  const verdict = ['match', ['get', 'verdict'], 'good', palette.good, 'bad', palette.bad, palette.quiet] as never
  return [
    { id: 'claim-area', type: 'fill', source: 'claim', paint: { 'fill-color': palette.first, 'fill-opacity': 0.12 } },
    { id: 'claim-edge', type: 'line', source: 'claim', paint: { 'line-color': palette.first, 'line-width': 2 } },
    {
      id: 'stamp-area',
      type: 'fill',
      source: 'stamps',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': verdict, 'fill-opacity': 0.2 },
    },
    {
      id: 'stamp-edge',
      type: 'line',
      source: 'stamps',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'line-color': verdict, 'line-width': 1.5 },
    },
    {
      id: 'stamp-way',
      type: 'line',
      source: 'stamps',
      filter: ['==', ['geometry-type'], 'LineString'],
      paint: { 'line-color': verdict, 'line-width': 1.2, 'line-dasharray': [2, 2] },
    },
  ]
}

/** Draws the circle of the claim, and for each stamp a disc with its declared accuracy and the geodesic to the claim. */
export function drawLab(
  scene: Scene,
  state: LabState,
  response: VerifyProofResponse | undefined,
  kernel: Kernel,
): void {
  const disc = (center: LonLat, radiusMeters: number, properties: object) => ({
    type: 'Feature',
    properties,
    geometry: {
      type: 'Polygon',
      coordinates: [
        along(
          kernel,
          circleAround(kernel, center, radiusMeters).map(([x, y]): [number, number] => [x, y]),
          'planar',
        ),
      ],
    },
  })
  scene.setData('claim', [disc(state.place, state.radiusMeters, {})])
  const drawn = state.stamps.flatMap((stamp, index) => {
    const result = response?.credibility.stampResults[index]
    const supports =
      result?.signaturesValid === true &&
      result.structureValid &&
      result.signalsConsistent &&
      result.withinRadius &&
      result.temporalOverlap > 0
    const properties = { verdict: result === undefined ? 'none' : supports ? 'good' : 'bad' }
    const line = along(kernel, [[...state.place] as [number, number], [...stamp.place] as [number, number]], 'geodesic')
    return [
      disc(stamp.place, stamp.accuracyMeters, properties),
      { type: 'Feature', properties, geometry: { type: 'LineString', coordinates: line } },
    ]
  })
  scene.setData('stamps', drawn)
}
