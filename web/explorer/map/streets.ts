/** Streets at the zooms of a city, from the map tiles of the operator. Without such tiles, the map has outlines only. */
import type { LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { Palette } from './palette.ts'

/** From this zoom on the streets are shown; the tiles are described and fetched only then. */
export const STREET_ZOOM = 9

/** Names of layers in the schemas of Protomaps and OpenMapTiles. */
const NAMES = {
  green: ['landuse', 'landcover', 'park'],
  water: ['water'],
  waterway: ['waterway'],
  buildings: ['buildings', 'building'],
  roads: ['roads', 'transportation'],
}
/** Kinds of wide roads in both schemas. */
const WIDE = ['highway', 'major_road', 'motorway', 'trunk', 'primary', 'secondary']
const BUILDING_ZOOM = 13
/** The topmost layer of the outlines (base-map.ts). */
export const LAST_OUTLINE = 'coast-fine'
const GREEN = ['park', 'wood', 'forest', 'grass', 'nature_reserve', 'garden', 'meadow', 'cemetery', 'grassland']

interface TileDescription {
  readonly tiles: readonly string[]
  readonly minzoom: number
  readonly maxzoom: number
  readonly bounds: readonly [number, number, number, number]
  readonly vector_layers: readonly { readonly id: string }[]
  readonly attribution: string
}

/** The streets of one map. */
export interface Streets {
  /** Until this is called with true, and after it is called with false, the map has no streets, and requests nothing for them. */
  allow(isAllowed: boolean): void
  /** Returns the layers that the map has now, in these colours. */
  layers(palette: Palette): readonly LayerSpecification[]
}

/**
 * Adds the streets at the first zoom that shows them. The requests for their tiles tell the server which place the map shows.
 *
 * @param credit receives the credit that the tiles require
 */
export function addStreets(map: MapLibreMap, palette: () => Palette, credit: (text: string) => void): Streets {
  let isAllowed = false
  let description: TileDescription | undefined
  /** Ids of the layers that `description` has. */
  let known: ReadonlySet<string> | undefined
  let isAsked = false

  const look = () => {
    if (!isAllowed || isAsked || map.getZoom() < STREET_ZOOM) return
    isAsked = true
    void describeTiles().then((answer) => {
      description = answer
      if (isAllowed) add()
    })
  }
  map.on('zoom', look)

  return {
    allow(isNowAllowed) {
      if (isNowAllowed === isAllowed) return
      isAllowed = isNowAllowed
      if (isAllowed) add()
      else remove()
      look()
    },
    layers: (colors) => (known === undefined ? [] : streetLayers(colors, known)),
  }

  function add(): void {
    if (description === undefined) return
    const { minzoom, maxzoom, bounds, vector_layers, attribution } = description
    const [west, south, east, north] = bounds
    const ring = [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ]
    const tiles = [`${location.origin}/tiles/{z}/{x}/{y}.mvt`]
    map.addSource('streets', { type: 'vector', tiles, minzoom, maxzoom, bounds: [...bounds] })
    map.addSource('street-area', {
      type: 'geojson',
      data: { type: 'Feature', properties: {}, geometry: { type: 'Polygon', coordinates: [ring] } },
    })
    known = new Set(vector_layers.map(({ id }) => id))
    // Above the outlines, which are too coarse here, and below the layers of the pages.
    const order = map.getLayersOrder()
    const above = order[order.indexOf(LAST_OUTLINE) + 1]
    for (const layer of streetLayers(palette(), known)) map.addLayer(layer, above)
    credit(new DOMParser().parseFromString(attribution, 'text/html').body.textContent ?? '')
    document.documentElement.setAttribute('data-streets', 'ready')
  }

  /** Removes the sources too: a map requests the tiles of a source that it has. */
  function remove(): void {
    if (known === undefined) return
    for (const { id } of streetLayers(palette(), known)) map.removeLayer(id)
    for (const source of ['streets', 'street-area']) map.removeSource(source)
    known = undefined
    document.documentElement.removeAttribute('data-streets')
  }
}

/** @returns undefined if the operator supplies no tiles, or they cannot be read now */
async function describeTiles(): Promise<TileDescription | undefined> {
  try {
    const response = await fetch('/tiles')
    const description = response.ok ? ((await response.json()) as TileDescription) : undefined
    return description?.tiles.length === 0 ? undefined : description
  } catch {
    return undefined
  }
}

function streetLayers(palette: Palette, known: ReadonlySet<string>): readonly LayerSpecification[] {
  const kind = ['coalesce', ['get', 'kind'], ['get', 'class'], '']
  const isWide = ['in', kind, ['literal', WIDE]]
  const width = (zoom: number, wide: number, narrow: number) => [zoom, ['case', isWide, wide, narrow]]
  const part = (name: keyof typeof NAMES, make: (layer: object) => object) =>
    NAMES[name]
      .filter((id) => known.has(id))
      .map((id) => make({ id: `street-${id}`, source: 'streets', 'source-layer': id, minzoom: STREET_ZOOM }))
  return [
    // The land of the outlines has coarse coasts, so it is painted over.
    {
      id: 'street-area',
      type: 'fill',
      source: 'street-area',
      minzoom: STREET_ZOOM,
      paint: { 'fill-color': palette.land },
    },
    ...part('green', (layer) => ({
      ...layer,
      type: 'fill',
      filter: ['in', kind, ['literal', GREEN]],
      paint: { 'fill-color': palette.green },
    })),
    ...part('water', (layer) => ({
      ...layer,
      type: 'fill',
      filter: ['==', ['geometry-type'], 'Polygon'],
      paint: { 'fill-color': palette.sea },
    })),
    ...part('waterway', (layer) => ({
      ...layer,
      type: 'line',
      paint: { 'line-color': palette.sea, 'line-width': 1.5 },
    })),
    ...part('buildings', (layer) => ({
      ...layer,
      type: 'fill',
      minzoom: BUILDING_ZOOM,
      paint: { 'fill-color': palette.building },
    })),
    ...part('roads', (layer) => ({
      ...layer,
      type: 'line',
      filter: ['==', ['geometry-type'], 'LineString'],
      layout: { 'line-cap': 'round', 'line-join': 'round' },
      paint: {
        'line-color': palette.road,
        'line-width': [
          'interpolate',
          ['exponential', 1.6],
          ['zoom'],
          ...width(9, 1, 0.3),
          ...width(13, 2.5, 1),
          ...width(18, 20, 9),
        ],
      },
    })),
  ] as LayerSpecification[]
}
