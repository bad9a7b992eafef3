import type { GeoJSONSource } from 'maplibre-gl'
import { ApiError } from '../../../src/client/client.ts'
import type { RecordQuery } from '../../../src/client/records.ts'
import type { LocationRecord, LocationRecordList } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { whole } from '../format.ts'
import { type Box, boxOf, wrapped } from '../geo/shape.ts'
import { type BaseMap, BY_HAND, type Scene } from '../map/base-map.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { noteQuery } from '../router.ts'
import { recordDetail } from './detail.ts'
import { NO_FILTER, ON_MAP, queryOf, type RecordFilter, readFilter, requestOf } from './filter.ts'
import { createFilterBar } from './filter-bar.ts'
import { geometryOfRecord } from './place.ts'
import { drawCounts, drawRecords, RECORD_SCENE } from './scene.ts'
import { createTable } from './table.ts'

/** West, south, east, north of the initial view: the inhabited continents. */
const WORLD = [-165, -52, 180, 72] as const

export function createRecordsPage({ api, takeMap }: PageParts): Page {
  const bar = createFilterBar((patch) => change({ offset: 0, uid: '', ...patch }), inView)
  const table = createTable(
    ({ uid }) => change({ uid }),
    (offset) => change({ offset }),
  )
  const problem = h('div', { class: 'problem-slot' })
  const detail = h('div', { hidden: true })
  const list = h('div', {}, bar.element, problem, table.element)
  const mapNote = h('p', { class: 'legend map-note numeric' })
  const mapSlot = h('div', { class: 'map-slot' }, mapNote)
  const element = h(
    'div',
    { class: 'records', role: 'region', 'aria-label': 'Records' },
    h('div', { class: 'stage' }, mapSlot),
    h(
      'div',
      { class: 'rail' },
      h(
        'div',
        { class: 'rail-head' },
        h('h1', { class: 'page-title' }, 'Records'),
        h('p', { class: 'lead' }, 'Location attestations that the service has read from chains.'),
      ),
      list,
      detail,
    ),
  )
  let filter: RecordFilter = NO_FILTER
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let pendingRequest: AbortController | undefined
  let isShown = false
  let loadedFilter = ''
  let onMap: readonly LocationRecord[] = []
  let chosen: LocationRecord | undefined
  /** UID of the record that the view was moved to, so that the view moves only once per record. */
  let lastFitted: string | undefined

  return {
    element,
    enter(query) {
      isShown = true
      filter = readFilter(query)
      lastFitted = undefined
      takeMap(mapSlot).then(useMap, () => {}) // the slot shows that the map failed
      if (loadedFilter === '') void loadChains()
      update()
    },
    leave() {
      isShown = false
      pendingRequest?.abort()
      loadedFilter = ''
    },
  }

  function change(patch: Partial<RecordFilter>): void {
    filter = { ...filter, ...patch }
    noteQuery('records', queryOf(filter))
    update()
  }

  function update(): void {
    bar.show(filter)
    const { uid, ...listFilter } = filter
    const filterJson = JSON.stringify(listFilter)
    if (filterJson !== loadedFilter) {
      loadedFilter = filterJson
      void load()
    }
    void showDetail(uid)
  }

  async function loadChains(): Promise<void> {
    try {
      bar.showChains(Object.keys((await api.client.records.stats()).by_chain).sort())
    } catch {
      // The list shows the error; the filter then offers only “All chains”.
    }
  }

  async function load(): Promise<void> {
    pendingRequest?.abort()
    const controller = new AbortController()
    pendingRequest = controller
    table.showBusy()
    const { signal } = controller
    try {
      const [page, forMap] = await Promise.all([
        listFitting(requestOf(filter, 'page'), signal),
        listFitting(requestOf(filter, 'map'), signal),
      ])
      replace(problem)
      table.element.hidden = false
      table.show(page)
      onMap = forMap.data
      mapNote.textContent =
        forMap.count > onMap.length
          ? `The newest ${whole(onMap.length)} of ${whole(forMap.count)}`
          : forMap.count === 0
            ? 'No records on the map'
            : `All ${whole(forMap.count)} on the map`
      draw()
    } catch (error) {
      if (signal.aborted) return
      loadedFilter = ''
      table.element.hidden = true
      replace(problem, problemView(error))
    }
  }

  /** Reads a page. The service rejects pages with very long records, so such a page is read again with fewer of them. */
  async function listFitting(query: RecordQuery, signal: AbortSignal): Promise<LocationRecordList> {
    for (let limit = query.limit ?? ON_MAP; ; limit = Math.ceil(limit / 4)) {
      try {
        return await api.client.records.list({ ...query, limit }, { signal })
      } catch (error) {
        // The title of an error of the record API is its code.
        const isTooLarge = error instanceof ApiError && error.problem.title === 'Page too large'
        if (!isTooLarge || limit === 1) throw error
      }
    }
  }

  async function showDetail(uid: string): Promise<void> {
    if (uid === '') {
      const before = chosen?.uid
      chosen = undefined
      detail.hidden = true
      list.hidden = false
      draw()
      if (before !== undefined) element.querySelector<HTMLElement>(`[data-key="${before}"]`)?.focus()
      return
    }
    try {
      const record = onMap.find((candidate) => candidate.uid === uid) ?? (await api.client.records.get(uid))
      if (filter.uid !== uid) return
      const isNew = chosen?.uid !== uid
      chosen = record
      replace(
        detail,
        recordDetail(record, () => change({ uid: '' })),
      )
      if (isNew) detail.querySelector<HTMLElement>('[data-key=close-detail]')?.focus({ preventScroll: true })
    } catch (error) {
      replace(
        detail,
        h(
          'div',
          { class: 'panel' },
          problemView(error),
          error instanceof ApiError &&
            h('button', { class: 'button', type: 'button', onclick: () => change({ uid: '' }) }, 'Back to the list'),
        ),
      )
    }
    list.hidden = true
    detail.hidden = false
    draw()
  }

  function draw(): void {
    if (scene === undefined || !isShown) return
    drawRecords(scene, onMap)
    const geometry = chosen === undefined ? undefined : geometryOfRecord(chosen)
    scene.setData('chosen', geometry === undefined ? [] : [{ type: 'Feature', properties: {}, geometry }])
    const box = geometry === undefined ? undefined : boxOf([geometry])
    if (box !== undefined && chosen !== undefined && lastFitted !== chosen.uid) base?.fit(box)
    lastFitted = chosen?.uid
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    const isFirst = base === undefined
    base = loaded
    scene = base.enter(RECORD_SCENE)
    if (isFirst) listen(loaded)
    if (chosen === undefined) base.fit(boxIn(filter.bbox) ?? WORLD, false)
    draw()
  }

  function listen({ map, host }: BaseMap): void {
    drawCounts(map)
    host.addEventListener('fit', () => {
      const box = boxOf(onMap.flatMap((record) => geometryOfRecord(record) ?? []))
      if (isShown && box !== undefined) base?.fit(box)
    })
    map.on('click', 'record-points', ({ features }) => {
      const uid = features?.[0]?.properties['uid']
      if (typeof uid === 'string') change({ uid })
    })
    map.on('click', 'record-clusters', async ({ features, lngLat }) => {
      const id = features?.[0]?.properties['cluster_id']
      const zoom = await map.getSource<GeoJSONSource>('records')?.getClusterExpansionZoom(id)
      if (zoom !== undefined) map.easeTo({ center: lngLat, zoom: zoom + 0.5 }, BY_HAND)
    })
    for (const layer of ['record-points', 'record-clusters']) {
      map.on('mouseenter', layer, () => {
        map.getCanvas().style.cursor = 'pointer'
      })
      map.on('mouseleave', layer, () => {
        map.getCanvas().style.cursor = ''
      })
    }
    map.on('moveend', (event) => {
      const isByHand = event.originalEvent !== undefined || 'byHand' in event
      if (!isByHand) return // the page moved the view to the box, so the box must not change
      if (isShown && filter.bbox !== '' && filter.uid === '') change({ bbox: inView(), offset: 0 })
    })
  }

  function inView(): string {
    const bounds = base?.map.getBounds()
    if (bounds === undefined) return '-180,-90,180,90'
    const round = (value: number) => Number(value.toFixed(4))
    const isWhole = bounds.getEast() - bounds.getWest() >= 360
    const [west, east] = isWhole ? [-180, 180] : [wrapped(bounds.getWest()), wrapped(bounds.getEast())]
    return [west, Math.max(-90, bounds.getSouth()), east, Math.min(90, bounds.getNorth())].map(round).join(',')
  }
}

/** Reads a `bbox` parameter; undefined for any other text. */
function boxIn(text: string): Box | undefined {
  const [west = Number.NaN, south = Number.NaN, east = Number.NaN, north = Number.NaN] = text.split(',').map(Number)
  const isBox = text !== '' && [west, south, east, north].every(Number.isFinite)
  return isBox ? [west, south, west > east ? east + 360 : east, north] : undefined
}
