import type { Geometry } from '../../../src/types/generated.ts'
import { defaultChainId, FIRST_CHAIN_ID } from '../chains.ts'
import { copy, h, replace, toast } from '../dom.ts'
import { boxOf } from '../geo/shape.ts'
import type { Engine } from '../kernel.ts'
import type { BaseMap, Scene } from '../map/base-map.ts'
import { type Drawing, type DrawKind, startDrawing } from '../map/drawing.ts'
import { createHandles, type Handles } from '../map/handles.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { addressOf, noteQuery } from '../router.ts'
import { createAttestationPanel } from './attestation.ts'
import { createBatchPanel } from './batch-panel.ts'
import { EXAMPLES, type Example } from './examples.ts'
import { createPointTool } from './point-tool.ts'
import { createReadout } from './readout.ts'
import { geometryOf, inputsOf, type RequestDraft, readingOf, switchOperation } from './request-draft.ts'
import { createRequestPanel } from './request-panel.ts'
import { COMPUTE_SCENE, drawBatch, drawInputs, drawMade, extentOf } from './scene.ts'
import { createSession, type State } from './session.ts'
import { createShapePanel } from './shape-panel.ts'
import { decodeDraft, encodeDraft } from './share.ts'
import { createUsePanel } from './use-panel.ts'

/** A longer request is not written into the address; *Copy link* still does it. */
const MAX_ADDRESS = 4000
const DEFAULTS = { radiusMeters: 1000, recipient: '' }

export function createComputePage(parts: PageParts): Page {
  const { api } = parts
  const first = draftFrom(EXAMPLES[0]!, FIRST_CHAIN_ID)
  const session = createSession(api, first)
  let engine: Engine | undefined
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let isShown = false
  /** Geometries that were made from the inputs. */
  let drawn: readonly Geometry[] = []
  const panel = createRequestPanel({ change, choose, draw, example })
  const readout = createReadout()
  const attestation = createAttestationPanel(session, parts.issuer)
  const use = createUsePanel(session, parts, () => void share())
  const problem = h('div', { class: 'problem-slot' })
  const legend = h('ul', { class: 'legend' })
  const points = createPointTool({
    draft: () => session.state.draft,
    change: (patch) => change(patch),
    showAll: () => showAll(),
    isPaused: () => !isShown || drawing !== undefined,
  })
  const batch = createBatchPanel({
    api,
    draft: () => session.state.draft,
    draw: (rows, results) => scene !== undefined && drawBatch(scene, rows, results),
    showRows(rows) {
      const box = boxOf(rows.flatMap(({ geometry }) => geometry ?? []))
      if (box !== undefined) base?.fit(box)
    },
  })
  const shapes = createShapePanel({
    api,
    draft: () => session.state.draft,
    change: (patch) => change(patch),
    draw(made) {
      drawn = made
      drawAll()
      const box = boxOf([...drawn, ...inputsOf(session.state.draft).flatMap((input) => geometryOf(input) ?? [])])
      if (made.length > 0 && box !== undefined) base?.fit(box)
    },
  })
  const mapSlot = h('div', { class: 'map-slot' }, points.element, legend)
  const stage = h('div', { class: 'stage' }, mapSlot, readout.element)
  const rail = h(
    'div',
    { class: 'rail' },
    panel.element,
    problem,
    shapes.element,
    batch.element,
    attestation.element,
    use.element,
  )
  const element = h('div', { class: 'compute', role: 'region', 'aria-label': 'Compute' }, stage, rail)

  let handles: Handles | undefined
  let drawing: { slot: 'a' | 'b'; kind: DrawKind; work: Drawing } | undefined
  let hasStarted = false
  let drawFrame = 0

  mapSlot.addEventListener('dragover', (event) => {
    event.preventDefault()
    mapSlot.setAttribute('data-dropping', '')
  })
  mapSlot.addEventListener('dragleave', () => mapSlot.removeAttribute('data-dropping'))
  mapSlot.addEventListener('drop', (event) => {
    event.preventDefault()
    mapSlot.removeAttribute('data-dropping')
    const dropped = event.dataTransfer?.files[0]
    if (dropped !== undefined) void batch.open(dropped)
  })
  panel.showExample(0)
  session.onChange(show)
  api.onKeyChange(() => session.requestNow()) // a key may raise the limit that was reached
  document.addEventListener('issuer', () => {
    const issuer = parts.issuer()
    if (issuer !== undefined) panel.showIssuer(issuer)
    show(session.state)
  })
  parts.engine.then(
    (loaded) => {
      engine = loaded
      session.useEngine(loaded)
      performance.mark('interactive')
      drawAll()
      showAll(true)
    },
    (error) => {
      session.useEngine(undefined)
      toast(`No preview: ${error instanceof Error ? error.message : error}`)
    },
  )

  return {
    element,
    enter(query) {
      isShown = true
      const shared = query.get('s')
      if (shared !== null) void open(shared)
      else if (!hasStarted) void start()
      else void remember()
      hasStarted = true
      parts.takeMap(mapSlot).then(useMap, () => {}) // the slot shows that the map failed
    },
    leave() {
      isShown = false
      drawing?.work.cancel()
      handles?.clear()
    },
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    const isFirst = base === undefined
    base = loaded
    scene = base.enter(COMPUTE_SCENE)
    if (isFirst) {
      handles = createHandles(base, (slot, geometry, isFinal) => change({ [slot]: geometry }, isFinal))
      base.host.addEventListener('fit', () => isShown && showAll())
      points.listen(base)
      batch.redraw()
    }
    drawAll()
    showAll(isFirst)
  }

  function show(state: State): void {
    panel.show(state.draft, drawing)
    readout.show(state)
    attestation.show(state)
    use.show(state)
    points.show()
    shapes.show(state.draft)
    batch.requestChanged()
    replace(problem, state.error === undefined ? undefined : problemView(state.error))
    showLegend(state.draft)
    cancelAnimationFrame(drawFrame)
    drawFrame = requestAnimationFrame(drawAll)
  }

  function showLegend(draft: RequestDraft): void {
    const reading = readingOf(draft)
    if (legend.dataset['reading'] === reading) return
    legend.dataset['reading'] = reading
    const items =
      reading === 'planar'
        ? ['Planar edges: used for the result', 'Geodesics, for comparison']
        : ['Geodesics: used for the result', 'Planar edges, for comparison']
    replace(legend, h('li', {}, h('i'), items[0]), h('li', {}, h('i', { class: 'dashed' }), items[1]))
  }

  function drawAll(): void {
    if (scene === undefined || engine === undefined || !isShown) return
    const { draft, preview } = session.state
    drawMade(scene, drawn, engine.kernel)
    drawInputs(scene, draft, engine.kernel, preview?.ok === true && preview.result === 0n)
    const inputs = inputsOf(draft).flatMap((input, index) => {
      const geometry = geometryOf(input)
      const [slot, letter, className] = index === 0 ? ['a', 'A', 'first'] : ['b', 'B', 'second']
      return geometry === undefined ? [] : [{ slot: slot!, letter: letter!, className: className!, geometry }]
    })
    handles?.show(drawing === undefined ? inputs : [])
  }

  function showAll(isFirst = false): void {
    const { draft } = session.state
    const bare = () => boxOf(inputsOf(draft).flatMap((input) => geometryOf(input) ?? []))
    const box = engine === undefined ? bare() : extentOf(draft, engine.kernel)
    if (box !== undefined) base?.fit(box, !isFirst)
  }

  function change(patch: Partial<RequestDraft>, isFinal = true): void {
    panel.showExample(-1)
    session.change(patch, isFinal)
    if (isFinal) void remember()
  }

  /** Switches to another operation and keeps the inputs if one of them fits; otherwise loads the operation's first example. */
  function choose(operation: RequestDraft['operation']): void {
    const draft = switchOperation(session.state.draft, operation)
    if (draft !== undefined) change(draft)
    else example(EXAMPLES.find(({ draft }) => draft.operation === operation)!)
  }

  function example(chosen: Example): void {
    session.change(draftFrom(chosen, session.state.draft.chainId))
    panel.showExample(EXAMPLES.indexOf(chosen))
    points.reset()
    void remember()
    showAll()
  }

  function draw(slot: 'a' | 'b', kind: DrawKind): void {
    const isSame = drawing?.slot === slot && drawing.kind === kind
    drawing?.work.cancel()
    if (base === undefined || engine === undefined || isSame) return
    const before = session.state.draft[slot]
    handles?.clear()
    const work = startDrawing(
      base,
      engine.kernel,
      kind,
      (geometry) => {
        if (geometry !== undefined) session.change({ [slot]: geometry }, false)
      },
      (geometry) => {
        drawing = undefined
        change({ [slot]: geometry ?? before })
      },
    )
    drawing = { slot, kind, work }
    panel.show(session.state.draft, drawing)
    mapSlot.scrollIntoView({ block: 'nearest' })
  }

  /** Requests the first example, for a chain that suits the service. */
  async function start(): Promise<void> {
    const issuer = await api.issuer().catch(() => undefined) // if it cannot be read, the request reports why
    const isUnchanged = session.state.draft === first
    if (isUnchanged && issuer !== undefined) session.change({ chainId: defaultChainId(issuer) }, false)
    session.requestNow()
  }

  async function open(shared: string): Promise<void> {
    const draft = await decodeDraft(shared)
    if (draft === undefined) {
      toast('This link does not contain a valid request')
      session.requestNow()
      return
    }
    panel.showExample(-1)
    session.change(draft)
    showAll()
  }

  async function share(): Promise<void> {
    const query = new URLSearchParams({ s: await encodeDraft(session.state.draft) })
    noteQuery('compute', query)
    await copy(`${location.origin}${addressOf({ page: 'compute', query })}`, 'Link')
  }

  /** Writes the request into the address, so that it is still there after a reload and when the user comes back. */
  async function remember(): Promise<void> {
    const { draft } = session.state
    const text = await encodeDraft(draft)
    if (!isShown || session.state.draft !== draft) return
    noteQuery('compute', text.length > MAX_ADDRESS ? new URLSearchParams() : new URLSearchParams({ s: text }))
  }
}

function draftFrom({ draft }: Example, chainId: number): RequestDraft {
  return { ...DEFAULTS, chainId, b: undefined, edges: undefined, ...draft }
}
