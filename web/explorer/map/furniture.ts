/** The graticule with its labels at the edges, the scale bar, and the position of the pointer. */
import type { GeoJSONSource, Map as MapLibreMap } from 'maplibre-gl'
import { h, replace } from '../dom.ts'
import { degreesText, shortMeters } from '../format.ts'
import { wrapped } from '../geo/shape.ts'

/** Degrees between lines. The first step that puts at most `MAX_LINES` of them in the view is used. */
const STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 45]
const MAX_LINES = 9
/** Longest scale bar. The shortest is two fifths of it, in which `2,000 km` fits. */
const SCALE_PIXELS = 144
/** Sources of the outlines and of the cities. */
const SOURCES = 'Natural Earth, GeoNames'
/** Metres per pixel at the equator at zoom 0, with tiles of 512 pixels. */
const METERS_PER_PIXEL = 78_271.517

export function addFurniture(map: MapLibreMap, host: HTMLElement): { credit(source: string): void } {
  const cursor = h('span', { class: 'map-cursor' })
  const scale = h('span', { class: 'map-scale' })
  const ticks = h('div', { 'aria-hidden': 'true' })
  const credits = h('span', {}, SOURCES)
  const foot = h('div', { class: 'map-foot' }, cursor, credits, scale)
  host.append(ticks, foot)

  map.on('mousemove', ({ lngLat }) => {
    const places = Math.max(2, Math.min(6, Math.round(map.getZoom() / 2.5) + 1))
    cursor.textContent = degreesText(wrapped(lngLat.lng), lngLat.lat, places)
  })
  map.on('mouseout', () => {
    cursor.textContent = ''
  })
  const update = () => {
    drawScale(map, scale)
    drawTicks(map, ticks)
  }
  map.on('move', update)
  map.on('resize', update)
  map.on('moveend', () => drawGraticule(map))
  map.getCanvas().addEventListener('projectionchange', () => {
    update()
    drawGraticule(map)
  })
  map.once('idle', update)
  drawGraticule(map)
  return {
    credit(source) {
      if (source !== '') credits.textContent = `${source}, ${SOURCES}`
    },
  }
}

function isGlobe(map: MapLibreMap): boolean {
  return map.getProjection()?.type === 'globe'
}

function stepFor(map: MapLibreMap): number {
  const bounds = map.getBounds()
  const span = isGlobe(map) ? 180 : Math.min(360, bounds.getEast() - bounds.getWest())
  return STEPS.find((step) => span / step <= MAX_LINES) ?? STEPS.at(-1)!
}

function drawGraticule(map: MapLibreMap): void {
  const step = stepFor(map)
  const bounds = map.getBounds()
  const isWhole = step >= 5
  const [west, east] = isWhole ? [-180, 180] : [bounds.getWest() - step, bounds.getEast() + step]
  const [south, north] = isWhole
    ? [-90, 90]
    : [Math.max(-90, bounds.getSouth() - step), Math.min(90, bounds.getNorth() + step)]
  const lines: number[][][] = []
  for (const longitude of multiples(step, west, east))
    lines.push([
      [longitude, Math.max(south, -85)],
      [longitude, Math.min(north, 85)],
    ])
  for (const latitude of multiples(step, south, north)) {
    // A parallel is curved on the globe.
    const pieces = isWhole ? 72 : 1
    lines.push(Array.from({ length: pieces + 1 }, (_, piece) => [west + ((east - west) * piece) / pieces, latitude]))
  }
  const features = [
    { type: 'Feature' as const, properties: {}, geometry: { type: 'MultiLineString' as const, coordinates: lines } },
  ]
  map.getSource<GeoJSONSource>('graticule')?.setData({ type: 'FeatureCollection', features })
}

function* multiples(step: number, from: number, to: number): Generator<number> {
  for (let index = Math.ceil(from / step); index * step <= to; index++) yield Number((index * step).toFixed(6))
}

function drawTicks(map: MapLibreMap, ticks: HTMLElement): void {
  if (isGlobe(map)) {
    replace(ticks)
    return
  }
  const step = stepFor(map)
  const bounds = map.getBounds()
  const places = step >= 1 ? 0 : Math.ceil(-Math.log10(step))
  const text = (value: number, positive: string, negative: string) =>
    `${Math.abs(value).toFixed(places)}°${value === 0 ? '' : value < 0 ? negative : positive}`
  const { width, height } = map.getCanvas().getBoundingClientRect()
  const labels: HTMLElement[] = []
  for (const longitude of multiples(step, bounds.getWest(), bounds.getEast())) {
    const { x } = map.project([longitude, map.getCenter().lat])
    if (x < 48 || x > width - 72) continue
    const tick = h('span', { class: 'tick lon' }, text(wrapped(longitude), 'E', 'W'))
    tick.style.left = `${x}px`
    labels.push(tick)
  }
  for (const latitude of multiples(step, Math.max(-80, bounds.getSouth()), Math.min(80, bounds.getNorth()))) {
    const { y } = map.project([map.getCenter().lng, latitude])
    if (y < 28 || y > height - 16) continue
    const tick = h('span', { class: 'tick lat' }, text(latitude, 'N', 'S'))
    tick.style.top = `${y}px`
    labels.push(tick)
  }
  replace(ticks, labels)
}

function drawScale(map: MapLibreMap, scale: HTMLElement): void {
  const perPixel = (METERS_PER_PIXEL * Math.cos((map.getCenter().lat * Math.PI) / 180)) / 2 ** map.getZoom()
  const maxMeters = perPixel * SCALE_PIXELS
  const power = 10 ** Math.floor(Math.log10(maxMeters))
  const meters = [5, 2, 1].map((factor) => factor * power).find((candidate) => candidate <= maxMeters) ?? power
  scale.style.width = `${meters / perPixel}px`
  scale.textContent = shortMeters(meters)
}
