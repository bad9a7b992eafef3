/** Handles that move vertices, by pointer and by keyboard. */
import type { Marker } from 'maplibre-gl'
import type { Geometry } from '../../../src/types/generated.ts'
import { h } from '../dom.ts'
import { degreesText } from '../format.ts'
import {
  drawn,
  insertVertex,
  isRingOf,
  type LonLat,
  moveVertex,
  near,
  removeVertex,
  translate,
  type Vertex,
  verticesOf,
} from '../geo/shape.ts'
import type { BaseMap } from './base-map.ts'

export interface HandleShape {
  readonly slot: string
  /** The letter of the shape in the user interface. */
  readonly letter: string
  readonly className: string
  readonly geometry: Geometry
}

export interface Handles {
  /** Shows handles for the vertices of these shapes. While one is dragged, the handles are not rebuilt. */
  show(shapes: readonly HandleShape[]): void
  clear(): void
}

/** @param isFinal false while a handle is being dragged */
export type ShapeChange = (slot: string, geometry: Geometry, isFinal: boolean) => void

/** Shapes with more vertices have no handles, because the handles would hide the shape and be slow. */
const MAX_VERTICES = 120
const MAX_WITH_MIDDLES = 40
/** Pixels that an arrow key moves a handle; with Shift, one pixel. */
const KEY_PIXELS = 10

export function createHandles(base: BaseMap, changed: ShapeChange): Handles {
  const { map, library } = base
  let markers: Marker[] = []
  let shapes: readonly HandleShape[] = []
  let isDragging = false

  function clear(): void {
    for (const marker of markers) marker.remove()
    markers = []
  }

  function show(next: readonly HandleShape[]): void {
    shapes = next
    if (isDragging) return
    const focused = document.activeElement?.getAttribute('data-handle')
    clear()
    for (const shape of shapes) addShape(shape)
    if (focused) base.host.querySelector<HTMLElement>(`[data-handle="${focused}"]`)?.focus({ preventScroll: true })
  }

  function addShape(shape: HandleShape): void {
    const vertices = verticesOf(shape.geometry)
    if (vertices.length > MAX_VERTICES) return
    let before: { vertex: Vertex; longitude: number } | undefined
    let first: { vertex: Vertex; longitude: number } | undefined
    for (const [index, vertex] of vertices.entries()) {
      const sameLine = before?.vertex.sequence === vertex.sequence
      const longitude = sameLine ? near(vertex.position[0], before!.longitude) : vertex.position[0]
      const placed = { vertex, longitude }
      if (!sameLine) first = placed
      addVertex(shape, vertex, longitude, index, vertices.length)
      const isLine = shape.geometry.type !== 'Point' && shape.geometry.type !== 'MultiPoint'
      if (isLine && vertices.length <= MAX_WITH_MIDDLES) {
        if (sameLine) addMiddle(shape, before!, placed)
        const isLast = vertices[index + 1]?.sequence !== vertex.sequence
        if (isLast && isRingOf(shape.geometry, vertex.path.slice(0, -1))) addMiddle(shape, placed, first!)
      }
      before = placed
    }
    if (vertices.length > 1) addWhole(shape, vertices)
  }

  function addVertex(shape: HandleShape, vertex: Vertex, longitude: number, index: number, count: number): void {
    const isWhole = shape.geometry.type === 'Point'
    const where = degreesText(vertex.position[0], vertex.position[1])
    const label = `${shape.letter}${count > 1 ? `, vertex ${index + 1} of ${count}` : ''}: ${where}. Arrow keys move it${count > 1 ? ', Delete removes it' : ''}.`
    const marker = add(shape, `${shape.slot}-${vertex.path.join('-')}`, isWhole ? 'whole' : '', label, [
      longitude,
      vertex.position[1],
    ])
    onMove(marker, (to, isFinal) => changed(shape.slot, moveVertex(shape.geometry, vertex.path, to), isFinal))
    marker.getElement().addEventListener('keydown', (event) => {
      if (event.key !== 'Delete' && event.key !== 'Backspace') return
      event.preventDefault()
      changed(shape.slot, removeVertex(shape.geometry, vertex.path), true)
    })
    marker.getElement().addEventListener('dblclick', (event) => {
      event.stopPropagation()
      changed(shape.slot, removeVertex(shape.geometry, vertex.path), true)
    })
  }

  /** Adds a handle between two vertices; moving it creates a vertex. */
  function addMiddle(
    shape: HandleShape,
    from: { vertex: Vertex; longitude: number },
    to: { vertex: Vertex; longitude: number },
  ): void {
    const longitude = (from.longitude + near(to.longitude, from.longitude)) / 2
    const latitude = (from.vertex.position[1] + to.vertex.position[1]) / 2
    const path = from.vertex.path
    const name = `${shape.slot}-${path.join('-')}-middle`
    const marker = add(shape, name, 'middle', `${shape.letter}: new vertex here. Arrow keys create and move it.`, [
      longitude,
      latitude,
    ])
    marker.getElement().tabIndex = -1 // not in the tab order, which would become too long; a vertex can also be added in the text
    onMove(marker, (at, isFinal) => changed(shape.slot, insertVertex(shape.geometry, path, at), isFinal))
  }

  /** Adds the handle with the letter of the shape, which moves the whole shape. */
  function addWhole(shape: HandleShape, vertices: readonly Vertex[]): void {
    const start = vertices[0]!.position[0]
    const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
    const center: LonLat = [
      mean(vertices.map(({ position }) => near(position[0], start))),
      mean(vertices.map(({ position }) => position[1])),
    ]
    const marker = add(shape, `${shape.slot}-all`, 'whole', `All of ${shape.letter}. Arrow keys move it.`, center)
    onMove(marker, (to, isFinal) => {
      const moved = translate(shape.geometry, to[0] - center[0], to[1] - center[1])
      changed(shape.slot, moved, isFinal)
    })
  }

  function add(shape: HandleShape, name: string, kind: string, label: string, at: LonLat): Marker {
    const element = h('button', {
      class: `handle ${shape.className} ${kind}`,
      type: 'button',
      'aria-label': label,
      title: label.split('. ')[0]!,
      'data-handle': name,
      'data-letter': shape.letter,
    })
    const marker = new library.Marker({ element, draggable: true }).setLngLat([at[0], at[1]]).addTo(map)
    markers.push(marker)
    return marker
  }

  function onMove(marker: Marker, moved: (to: LonLat, isFinal: boolean) => void): void {
    const element = marker.getElement()
    const readPosition = () => {
      const { lng, lat } = marker.getLngLat()
      return drawn(lng, lat)
    }
    marker.on('dragstart', () => {
      isDragging = true
      element.classList.add('dragging')
      for (const other of markers)
        if (other !== marker && other.getElement().matches('.middle, .whole:not([data-handle$="-"])'))
          other.getElement().style.visibility = 'hidden'
    })
    marker.on('drag', () => moved(readPosition(), false))
    marker.on('dragend', () => {
      isDragging = false
      moved(readPosition(), true)
      show(shapes)
    })
    element.addEventListener('keydown', (event) => {
      const step = event.shiftKey ? 1 : KEY_PIXELS
      const delta = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[
        event.key
      ]
      if (delta === undefined) return
      event.preventDefault()
      event.stopPropagation()
      const { x, y } = map.project(marker.getLngLat())
      marker.setLngLat(map.unproject([x + delta[0]!, y + delta[1]!]))
      moved(readPosition(), true)
    })
  }

  return { show, clear }
}
