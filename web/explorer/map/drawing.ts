/** Draws a new shape on the map, click by click. */
import type { MapMouseEvent } from 'maplibre-gl'
import type { Geometry } from '../../../src/types/generated.ts'
import type { Kernel } from '../../../src/wasm/loader.ts'
import { announce, h } from '../dom.ts'
import { circleAround, metersBetween } from '../geo/edges.ts'
import { drawn, type LonLat } from '../geo/shape.ts'
import type { BaseMap } from './base-map.ts'

export type DrawKind = 'point' | 'line' | 'polygon' | 'rectangle' | 'circle'

const FIRST_HELP: Readonly<Record<DrawKind, string>> = {
  point: 'Click where the point is',
  line: 'Click the first vertex of the line',
  polygon: 'Click the first corner',
  rectangle: 'Click one corner',
  circle: 'Click the centre',
}
const CIRCLE_VERTICES = 48

export interface Drawing {
  cancel(): void
}

/**
 * Starts drawing; it ends when the shape is complete or is cancelled.
 *
 * @param preview receives the shape so far; undefined if it has too few vertices
 * @param done receives the finished shape; undefined if drawing was cancelled
 */
export function startDrawing(
  base: BaseMap,
  kernel: Kernel,
  kind: DrawKind,
  preview: (geometry: Geometry | undefined) => void,
  done: (geometry: Geometry | undefined) => void,
): Drawing {
  const { map, host } = base
  const positions: LonLat[] = []
  const words = h('span', {}, FIRST_HELP[kind])
  const finishButton = h('button', { class: 'button small', type: 'button', onclick: () => finish() }, 'Done')
  const cancelButton = h('button', { class: 'button small', type: 'button', onclick: () => end(undefined) }, 'Cancel')
  const bar = h('div', { class: 'draw-help' }, words, h('span', { class: 'row' }, finishButton, cancelButton))
  finishButton.hidden = true
  host.append(bar)
  host.setAttribute('data-drawing', kind)
  map.doubleClickZoom.disable()
  announce(`${FIRST_HELP[kind]}. To type coordinates instead, choose Edit as text.`)

  const positionOfEvent = ({ lngLat }: MapMouseEvent) => drawn(lngLat.lng, lngLat.lat)
  const onClick = (event: MapMouseEvent) => {
    positions.push(positionOfEvent(event))
    if (kind === 'point' || (positions.length === 2 && (kind === 'rectangle' || kind === 'circle'))) {
      finish()
      return
    }
    help()
    preview(shapeOf(positions))
  }
  const onMove = (event: MapMouseEvent) => {
    if (positions.length > 0) preview(shapeOf([...positions, positionOfEvent(event)]))
  }
  const onDoubleClick = (event: MapMouseEvent) => {
    event.preventDefault()
    positions.pop() // its second click has added a vertex too
    finish()
  }
  const onKey = (event: KeyboardEvent) => {
    if (event.key === 'Escape') end(undefined)
    else if (event.key === 'Enter' && !(event.target instanceof HTMLButtonElement)) finish()
    else if (event.key === 'Backspace' && event.target === map.getCanvas()) {
      positions.pop()
      help()
      preview(shapeOf(positions))
    }
  }
  map.on('click', onClick)
  map.on('mousemove', onMove)
  map.on('dblclick', onDoubleClick)
  document.addEventListener('keydown', onKey)

  function help(): void {
    const isEnough = positions.length >= (kind === 'polygon' ? 3 : 2)
    finishButton.hidden = !isEnough
    if (positions.length === 0) words.textContent = FIRST_HELP[kind]
    else if (kind === 'rectangle') words.textContent = 'Click the opposite corner'
    else if (kind === 'circle') words.textContent = 'Click a point on the circle'
    else
      words.textContent = isEnough
        ? 'Click the next vertex, or finish with Enter or a double click'
        : 'Click the next vertex'
  }

  function shapeOf(given: readonly LonLat[]): Geometry | undefined {
    const distinct = given.filter(
      ([x, y], index) => index === 0 || given[index - 1]![0] !== x || given[index - 1]![1] !== y,
    )
    const [first, second] = distinct
    const list = distinct.map(([longitude, latitude]): [number, number] => [longitude, latitude])
    if (first === undefined) return undefined
    if (kind === 'point') return { type: 'Point', coordinates: list[0]! }
    if (second === undefined) return undefined
    switch (kind) {
      case 'line':
        return { type: 'LineString', coordinates: list }
      case 'polygon':
        return distinct.length < 3
          ? { type: 'LineString', coordinates: list }
          : { type: 'Polygon', coordinates: [[...list, list[0]!]] }
      case 'rectangle': {
        const [[x1, y1], [x2, y2]] = [first, second]
        return x1 === x2 || y1 === y2
          ? undefined
          : {
              type: 'Polygon',
              coordinates: [
                [
                  [x1, y1],
                  [x2, y1],
                  [x2, y2],
                  [x1, y2],
                  [x1, y1],
                ],
              ],
            }
      }
      case 'circle': {
        const radiusMeters = metersBetween(kernel, first, second)
        const ring = circleAround(kernel, first, radiusMeters, CIRCLE_VERTICES).map(([x, y]): [number, number] => [
          ...drawn(x, y),
        ])
        return { type: 'Polygon', coordinates: [ring] }
      }
    }
  }

  function finish(): void {
    const shape = shapeOf(positions)
    if (shape === undefined || (kind === 'polygon' && shape.type !== 'Polygon')) return
    end(shape)
  }

  function end(shape: Geometry | undefined): void {
    map.off('click', onClick)
    map.off('mousemove', onMove)
    map.off('dblclick', onDoubleClick)
    document.removeEventListener('keydown', onKey)
    // Deferred until the map has handled the double click, or it would zoom.
    setTimeout(() => map.doubleClickZoom.enable(), 0)
    bar.remove()
    host.removeAttribute('data-drawing')
    done(shape)
  }

  return { cancel: () => end(undefined) }
}
