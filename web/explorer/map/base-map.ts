/** The map that all pages share: land, borders, graticule and controls. Each page adds its own layers. */
import type { GeoJSONSource, LayerSpecification, LngLat, Map as MapLibreMap, StyleSpecification } from 'maplibre-gl'
import workerUrl from 'maplibre-gl/dist/maplibre-gl-worker.mjs?url'
import { h, replace } from '../dom.ts'
import { type Box, near } from '../geo/shape.ts'
import { icon } from '../icons.ts'
import { addFurniture } from './furniture.ts'
import { onThemeChange, type Palette, readPalette } from './palette.ts'
import { addStreets, LAST_OUTLINE, type Streets } from './streets.ts'

export type MapLibrary = typeof import('maplibre-gl')

/** The layers of one page, visible while that page is shown. */
export interface Scene {
  /** Replaces the data of one source of the scene. */
  setData(source: string, features: readonly object[]): void
}

export interface BaseMap {
  readonly map: MapLibreMap
  readonly library: MapLibrary
  readonly host: HTMLElement
  /** Shows the layers of this scene and hides those of every other scene. */
  enter(scene: SceneSpecification): Scene
  /** Moves the view to a box; without animation if the system asks for reduced motion. */
  fit(box: Box, animate?: boolean): void
}

export interface SceneSpecification {
  readonly name: string
  readonly sources: Readonly<Record<string, object>>
  readonly layers: (palette: Palette) => readonly LayerSpecification[]
  /** False for a scene whose place the server must not learn. Absent for all others. */
  readonly hasStreets?: false
}

const DATA = {
  'land-110m': new URL('../../generated/land-110m.json', import.meta.url).href,
  'borders-110m': new URL('../../generated/borders-110m.json', import.meta.url).href,
  'land-50m': new URL('../../generated/land-50m.json', import.meta.url).href,
  'borders-50m': new URL('../../generated/borders-50m.json', import.meta.url).href,
}
/** The finer outlines are fetched and shown from this zoom on. */
const FINE_ZOOM = 4
const FIT_PADDING = 64
/** Marks the events of moves that a button of this page starts; those of gestures have an `originalEvent` instead. */
export const BY_HAND = { byHand: true }

/** @throws {Error} if the browser has no WebGL, or a file cannot be fetched */
export async function loadBaseMap(host: HTMLElement): Promise<BaseMap> {
  const library = await import('maplibre-gl')
  library.setWorkerUrl(workerUrl)
  const canvasBox = h('div', { class: 'map-canvas' })
  host.append(canvasBox)
  const map = new library.Map({
    container: canvasBox,
    style: styleOf(readPalette()),
    center: [20, 30],
    zoom: 1.2,
    minZoom: 0,
    maxZoom: 18,
    attributionControl: false,
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    fadeDuration: 0,
    renderWorldCopies: true,
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  map.getCanvas().setAttribute('aria-label', 'Map. The text next to it contains everything that the map shows.')
  await new Promise<void>((resolve, reject) => {
    map.once('style.load', () => resolve())
    map.once('error', ({ error }) => reject(error))
  })
  const scenes = new Map<string, { scene: Scene; layers: string[]; specification: SceneSpecification }>()
  const tools = createTools(map, host)
  host.append(tools)
  const furniture = addFurniture(map, host)
  refineWhenNear(map)
  const streets = addStreets(map, readPalette, furniture.credit)
  /** The view before a scene without streets, while such a scene is shown. */
  let viewBefore: { readonly center: LngLat; readonly zoom: number } | undefined
  onThemeChange(() => recolor(map, streets, scenes))
  map.once('idle', () => document.documentElement.setAttribute('data-map', 'ready'))

  return {
    map,
    library,
    host,
    enter(specification) {
      let entry = scenes.get(specification.name)
      if (entry === undefined) {
        for (const [name, source] of Object.entries(specification.sources)) map.addSource(name, source as never)
        const layers = specification.layers(readPalette())
        for (const layer of layers) map.addLayer(layer)
        const scene: Scene = {
          setData: (source, features) =>
            map.getSource<GeoJSONSource>(source)?.setData({ type: 'FeatureCollection', features: features as never }),
        }
        entry = { scene, layers: layers.map(({ id }) => id), specification }
        scenes.set(specification.name, entry)
      }
      for (const [name, { layers }] of scenes) {
        const visibility = name === specification.name ? 'visible' : 'none'
        for (const layer of layers) map.setLayoutProperty(layer, 'visibility', visibility)
      }
      const hasStreets = specification.hasStreets !== false
      if (!hasStreets) viewBefore ??= { center: map.getCenter(), zoom: map.getZoom() }
      else if (viewBefore !== undefined) {
        // The streets of the next page must not be requested for the place that this scene showed.
        map.jumpTo(viewBefore)
        viewBefore = undefined
      }
      streets.allow(hasStreets)
      return entry.scene
    },
    fit([west, south, east, north], animate = true) {
      const { width, height } = host.getBoundingClientRect()
      const maxSide = Math.min(width, height) / 5
      const side = Math.min(FIT_PADDING, maxSide)
      const padding = { top: side, bottom: side, left: side, right: side }
      const style = getComputedStyle(host)
      padding.bottom += Math.min(Number.parseFloat(style.getPropertyValue('--covered-bottom')) || 0, height / 2)
      const isStill = !animate || matchMedia('(prefers-reduced-motion: reduce)').matches
      map.fitBounds([west, Math.max(south, -84), near(east, west + (east - west)), Math.min(north, 84)], {
        padding,
        maxZoom: 16,
        duration: isStill ? 0 : 500,
      })
    },
  }
}

const EMPTY = { type: 'geojson', data: { type: 'FeatureCollection', features: [] } } as const
/** Coarse layers, hidden from `FINE_ZOOM` on when the fine outlines are loaded. */
const COARSE = ['land', 'borders', 'coast']

function styleOf(palette: Palette): StyleSpecification {
  const data = (name: keyof typeof DATA) => ({ type: 'geojson', data: DATA[name], tolerance: 0.2 }) as const
  return {
    version: 8,
    projection: { type: 'mercator' },
    sources: {
      land: data('land-110m'),
      borders: data('borders-110m'),
      // Fetched at `FINE_ZOOM`, where the difference becomes visible.
      'land-fine': EMPTY,
      'borders-fine': EMPTY,
      graticule: EMPTY,
    },
    layers: baseLayers(palette) as LayerSpecification[],
  }
}

function baseLayers(palette: Palette): LayerSpecification[] {
  const close = { minzoom: FINE_ZOOM }
  return [
    { id: 'sea', type: 'background', paint: { 'background-color': palette.sea } },
    { id: 'land', type: 'fill', source: 'land', paint: { 'fill-color': palette.land } },
    { id: 'land-fine', type: 'fill', source: 'land-fine', ...close, paint: { 'fill-color': palette.land } },
    {
      id: 'graticule',
      type: 'line',
      source: 'graticule',
      paint: { 'line-color': palette.graticule, 'line-width': 0.7 },
    },
    {
      id: 'borders',
      type: 'line',
      source: 'borders',

      paint: { 'line-color': palette.border, 'line-width': 0.8 },
    },
    {
      id: 'borders-fine',
      type: 'line',
      source: 'borders-fine',
      ...close,
      paint: { 'line-color': palette.border, 'line-width': 1 },
    },
    { id: 'coast', type: 'line', source: 'land', paint: { 'line-color': palette.coast, 'line-width': 0.8 } },
    {
      id: LAST_OUTLINE,
      type: 'line',
      source: 'land-fine',
      ...close,
      paint: { 'line-color': palette.coast, 'line-width': 1 },
    },
  ]
}

/** Loads the finer outlines at `FINE_ZOOM`; the coarse ones stay visible until these are drawn. */
function refineWhenNear(map: MapLibreMap): void {
  const refine = () => {
    if (map.getZoom() < FINE_ZOOM) return
    map.off('zoom', refine)
    map.getSource<GeoJSONSource>('land-fine')?.setData(DATA['land-50m'])
    map.getSource<GeoJSONSource>('borders-fine')?.setData(DATA['borders-50m'])
    map.once('idle', () => {
      for (const layer of COARSE) map.setLayerZoomRange(layer, 0, FINE_ZOOM)
    })
  }
  map.on('zoom', refine)
  refine()
}

/** Repaints all layers in the colours of the current theme. */
function recolor(
  map: MapLibreMap,
  streets: Streets,
  scenes: ReadonlyMap<string, { specification: SceneSpecification }>,
): void {
  const palette = readPalette()
  const layers = [
    ...baseLayers(palette),
    ...streets.layers(palette),
    ...[...scenes.values()].flatMap(({ specification }) => specification.layers(palette)),
  ]
  for (const { id, paint } of layers) {
    for (const [name, value] of Object.entries(paint ?? {})) map.setPaintProperty(id, name as never, value as never)
  }
}

/** Creates the buttons. “Show everything” dispatches `fit` on the host, because only the current page knows its content. */
function createTools(map: MapLibreMap, host: HTMLElement): HTMLElement {
  const tools = h('div', { class: 'map-tools' })
  const button = (name: Parameters<typeof icon>[0], label: string, act: () => void) =>
    h('button', { class: 'icon-button', type: 'button', 'aria-label': label, title: label, onclick: act }, icon(name))
  const globe = button('globe', 'Show as a globe', () => {
    const isGlobe = map.getProjection()?.type !== 'globe'
    map.setProjection({ type: isGlobe ? 'globe' : 'mercator' })
    globe.setAttribute('aria-pressed', String(isGlobe))
    host.toggleAttribute('data-globe', isGlobe)
    map.getCanvas().dispatchEvent(new Event('projectionchange'))
  })
  globe.setAttribute('aria-pressed', 'false')
  replace(
    tools,
    h(
      'div',
      { class: 'group' },
      button('plus', 'Zoom in', () => map.zoomIn({}, BY_HAND)),
      button('minus', 'Zoom out', () => map.zoomOut({}, BY_HAND)),
    ),
    h(
      'div',
      { class: 'group' },
      globe,
      button('fit', 'Show everything', () => host.dispatchEvent(new Event('fit'))),
    ),
  )
  return tools
}
