import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { LocationRecord } from '../../../src/types/generated.ts'
import type { Scene, SceneSpecification } from '../map/base-map.ts'
import type { Palette } from '../map/palette.ts'
import { geometryOfRecord, middleOf } from './place.ts'

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const
const IMAGE = 'count-'
/** Background of the white digits, in both themes. */
const CLUSTER = '#2c50cf'

export const RECORD_SCENE: SceneSpecification = {
  name: 'records',
  sources: {
    records: { ...EMPTY, cluster: true, clusterRadius: 42, clusterMaxZoom: 9 },
    outlines: EMPTY,
    chosen: EMPTY,
  },
  layers,
}

function layers(palette: Palette): LayerSpecification[] {
  const isCluster = ['has', 'point_count'] as never
  const isRevoked = ['==', ['get', 'revoked'], true]
  return [
    {
      id: 'record-outlines',
      type: 'line',
      source: 'outlines',
      minzoom: 4,
      paint: { 'line-color': palette.first, 'line-width': 1.5 },
    },
    { id: 'record-chosen', type: 'line', source: 'chosen', paint: { 'line-color': palette.second, 'line-width': 3 } },
    {
      id: 'record-chosen-point',
      type: 'circle',
      source: 'chosen',
      filter: ['==', ['geometry-type'], 'Point'],
      paint: {
        'circle-radius': 13,
        'circle-color': palette.second,
        'circle-opacity': 0.3,
        'circle-stroke-color': palette.second,
        'circle-stroke-width': 2,
      },
    },
    {
      id: 'record-points',
      type: 'circle',
      source: 'records',
      filter: ['!', isCluster],
      paint: {
        'circle-radius': 5,
        'circle-color': ['case', isRevoked, palette.raised, palette.first] as never,
        'circle-stroke-width': 1.5,
        'circle-stroke-color': ['case', isRevoked, palette.bad, palette.raised] as never,
      },
    },
    {
      id: 'record-clusters',
      type: 'circle',
      source: 'records',
      filter: isCluster,
      paint: {
        'circle-radius': ['interpolate', ['linear'], ['sqrt', ['get', 'point_count']], 1, 10, 30, 30] as never,
        'circle-color': CLUSTER,
        'circle-opacity': 0.92,
        'circle-stroke-color': palette.raised,
        'circle-stroke-width': 1.5,
      },
    },
    {
      id: 'record-counts',
      type: 'symbol',
      source: 'records',
      filter: isCluster,
      // Counts are drawn as images here: text glyphs would need a font that has to be fetched.
      layout: {
        'icon-image': ['concat', IMAGE, ['get', 'point_count_abbreviated']] as never,
        'icon-allow-overlap': true,
      },
    },
  ]
}

/** Draws the image of a count when a cluster first needs it. */
export function drawCounts(map: MapLibreMap): void {
  map.setMissingStyleImageResolver((id) => {
    if (!id.startsWith(IMAGE)) return
    const text = id.slice(IMAGE.length)
    const scale = 2
    const canvas = document.createElement('canvas')
    canvas.width = (8 * text.length + 4) * scale
    canvas.height = 16 * scale
    const context = canvas.getContext('2d')
    if (context === null) return
    context.scale(scale, scale)
    context.font = '600 11px Geist, sans-serif'
    context.fillStyle = '#fff'
    context.textAlign = 'center'
    context.textBaseline = 'middle'
    context.fillText(text, canvas.width / scale / 2, 8.5)
    map.addImage(id, context.getImageData(0, 0, canvas.width, canvas.height), { pixelRatio: scale })
  })
}

export function drawRecords(scene: Scene, records: readonly LocationRecord[]): void {
  const outlines: object[] = []
  const points = records.flatMap((record) => {
    const geometry = geometryOfRecord(record)
    const middle = geometry === undefined ? undefined : middleOf(geometry)
    if (geometry === undefined || middle === undefined) return []
    const properties = { uid: record.uid, revoked: record.revoked }
    if (geometry.type !== 'Point') outlines.push({ type: 'Feature', properties, geometry })
    return [{ type: 'Feature', properties, geometry: { type: 'Point', coordinates: middle } }]
  })
  scene.setData('records', points)
  scene.setData('outlines', outlines)
}
