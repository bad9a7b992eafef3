/**
 * Sets an input to a point with one click on the map, or with a place that was searched. The first click sets A and the next one
 * B, without a drawing tool.
 */
import type { MapMouseEvent } from 'maplibre-gl'
import { announce, h } from '../dom.ts'
import { drawn, type LonLat } from '../geo/shape.ts'
import type { BaseMap } from '../map/base-map.ts'
import { createPlaceSearch } from '../map/place-search.ts'
import { nextSlot, type RequestDraft, type Slot } from './request-draft.ts'

/** Close enough to see streets, and far enough to see a city. */
const CITY_ZOOM = 10

export interface PointToolParts {
  draft(): RequestDraft
  change(patch: Partial<RequestDraft>): void
  /** Shows both inputs on the map. */
  showAll(): void
  /** True while another page is shown, or a drawing tool is active. */
  isPaused(): boolean
}

export function createPointTool({ draft, change, showAll, isPaused }: PointToolParts) {
  const words = h('span', {})
  const undoButton = h('button', { class: 'link-button', type: 'button', onclick: () => undo() }, 'Undo')
  const hint = h('p', { class: 'point-hint' }, words, undoButton)
  const search = createPlaceSearch(({ name, position }, isOnlyShown) => {
    const slot = isOnlyShown ? undefined : set(position)
    if (slot === undefined) base?.map.jumpTo({ center: [position[0], position[1]], zoom: CITY_ZOOM })
    else showAll()
    announce(slot === undefined ? `The map shows ${name}` : `${slot.toUpperCase()} is ${name}`)
  })
  const element = h('div', { class: 'map-find' }, search.element, hint)
  let base: BaseMap | undefined
  let last: Slot | undefined
  let before: Partial<RequestDraft> | undefined

  return {
    element,
    listen(loaded: BaseMap): void {
      base = loaded
      loaded.map.on('click', onClick)
      // The first click of a double click has set a point, but the user wanted to zoom.
      loaded.map.on('dblclick', () => !isPaused() && undo())
      show()
    },
    /** Begins again with A, after the inputs changed in another way. */
    reset(): void {
      last = undefined
      before = undefined
      show()
    },
    show,
  }

  function onClick({ originalEvent, lngLat }: MapMouseEvent): void {
    const isOnMap = originalEvent.target === base?.map.getCanvas() // and not on a handle
    if (isPaused() || !isOnMap || originalEvent.detail > 1) return
    const slot = set(drawn(lngLat.lng, lngLat.lat))
    if (slot !== undefined) announce(`${slot.toUpperCase()} is set`)
  }

  /** @returns the input that was set; undefined if the operation takes one input, which cannot be a point */
  function set(position: LonLat): Slot | undefined {
    const slot = nextSlot(draft(), last)
    if (slot === undefined) return undefined
    const previous = { [slot]: draft()[slot] }
    change({ [slot]: { type: 'Point', coordinates: [position[0], position[1]] } })
    last = slot
    before = previous
    show()
    return slot
  }

  function undo(): void {
    if (before === undefined) return
    const previous = before
    last = last === 'b' ? 'a' : undefined
    before = undefined
    change(previous)
    show()
  }

  function show(): void {
    const slot = nextSlot(draft(), last)
    hint.hidden = slot === undefined || base === undefined
    const set = before === undefined ? '' : `${last?.toUpperCase()} is set. `
    words.textContent = slot === undefined ? '' : `${set}Click the map to set ${slot.toUpperCase()}.`
    undoButton.hidden = before === undefined
    search.showAction(
      slot === undefined ? 'Enter shows it on the map.' : `Enter sets ${slot.toUpperCase()}. Shift+Enter shows it.`,
    )
  }
}
