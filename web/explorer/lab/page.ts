import type { Geometry, VerifyProofResponse } from '../../../src/types/generated.ts'
import { announce, download, h, replace, toast } from '../dom.ts'
import { type Box, boxOf } from '../geo/shape.ts'
import type { Engine } from '../kernel.ts'
import type { BaseMap, Scene } from '../map/base-map.ts'
import { createHandles, type HandleShape, type Handles } from '../map/handles.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { noteQuery } from '../router.ts'
import { createClaimPanel } from './claim-panel.ts'
import { EvidenceMaker, type LabStamp, type LabState, PLUGINS, type PluginName } from './evidence.ts'
import { createEvidenceList } from './evidence-list.ts'
import { CHAIN_ID, createOutcome } from './outcome.ts'
import { readProofArchive } from './proof-archive.ts'
import { createLabReadout } from './readout.ts'
import { drawLab, LAB_SCENE } from './scene.ts'
import { stateOf, TEMPLATES, USUAL_ACCURACY } from './templates.ts'
import { dimensionCards } from './verdicts.ts'

const SETTLE_MS = 250

export function createLabPage({ api, engine: loading, takeMap }: PageParts): Page {
  const readout = createLabReadout()
  const mapSlot = h('div', { class: 'map-slot' })
  const lesson = h('p', { class: 'hint', id: 'template-lesson' })
  const templates = h(
    'select',
    {
      class: 'select',
      id: 'template',
      'aria-describedby': 'template-lesson',
      onchange: () => choose(Number(templates.value)),
    },
    TEMPLATES.map(({ title }, index) => h('option', { value: index }, title)),
  )
  const claim = createClaimPanel(change)
  const problem = h('div', { class: 'problem-slot' })
  const cards = h('div', {}, h('p', { class: 'hint' }, 'The service is checking the evidence …'))
  const evidence = createEvidenceList({
    change: changeStamp,
    remove: (id) => change({ stamps: state.stamps.filter((stamp) => stamp.id !== id) }),
    add: (plugin) => add(plugin),
    addFile: (file) => void addFile(file),
  })
  const outcome = createOutcome(
    api,
    () => void evaluate(),
    () => maker !== undefined && download('proof.json', JSON.stringify(maker.proof(state), null, 2)),
  )
  const rail = h(
    'div',
    { class: 'rail' },
    h(
      'div',
      { class: 'rail-head' },
      h('h1', { class: 'page-title' }, 'Proof lab'),
      h('p', { class: 'lead' }, 'Claim a position and a time, add evidence, and see how the service evaluates it.'),
    ),
    h(
      'div',
      { class: 'panel plain' },
      h('div', { class: 'field' }, h('label', { for: 'template' }, 'Start from'), templates, lesson),
    ),
    claim.element,
    h('div', { class: 'panel' }, h('h2', { class: 'eyebrow' }, 'Credibility'), problem, cards),
    evidence.element,
    outcome.element,
  )
  const stage = h('div', { class: 'stage' }, mapSlot, readout.element)
  const element = h('div', { class: 'compute lab', role: 'region', 'aria-label': 'Proof lab' }, stage, rail)

  let state: LabState = stateOf(TEMPLATES[0]!, Date.now() / 1000)
  let response: VerifyProofResponse | undefined
  let maker: EvidenceMaker | undefined
  let engine: Engine | undefined
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let handles: Handles | undefined
  let isShown = false
  let chosen = 0
  let settle: ReturnType<typeof setTimeout> | undefined
  let pendingRequest: AbortController | undefined
  let frame = 0

  void EvidenceMaker.create().then((created) => {
    maker = created
    choose(chosen)
  })
  loading.then(
    (loaded) => {
      engine = loaded
      draw()
    },
    () => {}, // the compute page reports this; the service computes the verdicts, so only the drawing is missing
  )
  mapSlot.addEventListener('dragover', (event) => event.preventDefault())
  mapSlot.addEventListener('drop', (event) => {
    event.preventDefault()
    const dropped = event.dataTransfer?.files[0]
    if (dropped !== undefined) void addFile(dropped)
  })

  return {
    element,
    enter(query) {
      isShown = true
      const wanted = Number(query.get('template') ?? Number.NaN)
      if (TEMPLATES[wanted] !== undefined && wanted !== chosen) choose(wanted)
      takeMap(mapSlot).then(useMap, () => {}) // the slot shows that the map failed
    },
    leave() {
      isShown = false
      handles?.clear()
    },
  }

  function choose(index: number): void {
    const template = TEMPLATES[index]!
    chosen = index
    templates.value = String(index)
    if (isShown) noteQuery('proof', new URLSearchParams({ template: String(index) }))
    lesson.textContent = template.lesson
    change(stateOf(template, Date.now() / 1000))
    showAll()
  }

  function change(patch: Partial<LabState>, isFinal = true): void {
    state = { ...state, ...patch }
    response = undefined
    pendingRequest?.abort()
    show()
    clearTimeout(settle)
    if (isFinal) settle = setTimeout(() => void evaluate(), SETTLE_MS)
  }

  function changeStamp(id: number, patch: Partial<LabStamp>, isFinal: boolean): void {
    change({ stamps: state.stamps.map((stamp) => (stamp.id === id ? { ...stamp, ...patch } : stamp)) }, isFinal)
  }

  function add(plugin: PluginName, more: Partial<LabStamp> = {}): void {
    const stamp: LabStamp = {
      id: Math.max(0, ...state.stamps.map(({ id }) => id)) + 1,
      plugin,
      place: state.place,
      accuracyMeters: USUAL_ACCURACY[plugin],
      startSeconds: 900,
      lastsSeconds: 120,
      signer: 'subject',
      isForged: false,
      ...more,
    }
    change({ stamps: [...state.stamps, stamp] })
  }

  async function addFile(file: File): Promise<void> {
    try {
      const stamp = await readProofArchive(file)
      const location = stamp.location as Geometry
      const point = location.type === 'Point' ? location.coordinates : state.place
      add(PLUGINS.find((name) => name === stamp.plugin) ?? 'proofmode', { given: stamp, place: [point[0], point[1]] })
      toast('Stamp added. You may have to move the claim to its position and time.')
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error))
    }
  }

  async function evaluate(): Promise<void> {
    if (maker === undefined) return
    pendingRequest?.abort()
    const controller = new AbortController()
    pendingRequest = controller
    if (state.stamps.length === 0) {
      replace(cards, h('p', { class: 'hint' }, 'There is no evidence yet. Add a stamp.'))
      return
    }
    try {
      const options = outcome.wantsSignature() ? { chainId: CHAIN_ID } : {}
      const evaluated = await api.client.verify.proof(maker.proof(state), { ...options, signal: controller.signal })
      if (controller.signal.aborted) return
      response = evaluated
      replace(problem)
      show()
      announce(readout.words())
    } catch (error) {
      if (controller.signal.aborted) return
      replace(problem, problemView(error))
      readout.showNone()
    }
  }

  function show(): void {
    claim.show(state)
    evidence.show(state.stamps, response?.credibility.stampResults)
    readout.show(state.stamps.length, response)
    outcome.show(response)
    element.dataset['busy'] = String(response === undefined)
    if (response !== undefined) replace(cards, dimensionCards(response))
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(draw)
  }

  function draw(): void {
    if (scene === undefined || engine === undefined || !isShown) return
    drawLab(scene, state, response, engine.kernel)
    const shape = (slot: string, letter: string, className: string, place: LabState['place']): HandleShape => {
      return { slot, letter, className, geometry: { type: 'Point', coordinates: [place[0], place[1]] } }
    }
    const movable = state.stamps.filter(({ given }) => given === undefined)
    handles?.show([
      shape('claim', 'C', 'first', state.place),
      ...movable.map(({ id, place }) => shape(String(id), String(id), 'second', place)),
    ])
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    if (base === undefined) {
      handles = createHandles(loaded, (slot, geometry, isFinal) => {
        if (geometry.type !== 'Point') return
        const place = [geometry.coordinates[0], geometry.coordinates[1]] as const
        if (slot === 'claim') change({ place }, isFinal)
        else changeStamp(Number(slot), { place }, isFinal)
      })
      loaded.host.addEventListener('fit', () => isShown && showAll())
    }
    base = loaded
    scene = base.enter(LAB_SCENE)
    draw()
    showAll(false)
  }

  function showAll(animate = true): void {
    if (!isShown) return
    const places = [state.place, ...state.stamps.map(({ place }) => place)]
    const box = boxOf(places.map(([x, y]) => ({ type: 'Point', coordinates: [x, y] })))
    if (box !== undefined) base?.fit(around(box, state.radiusMeters), animate)
  }
}

/** Returns a box that is larger on each side by about this many metres. */
function around([west, south, east, north]: Box, meters: number): Box {
  const latitude = meters / 111_000
  const longitude = latitude / Math.max(0.05, Math.cos((south * Math.PI) / 180))
  return [west - longitude, south - latitude, east + longitude, north + latitude]
}
