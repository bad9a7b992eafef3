import { type Verdict, verifyResult } from '../../../src/client/client.ts'
import type { Geometry, VerifyProofResponse } from '../../../src/types/generated.ts'
import { announce, download, h, replace, toast } from '../dom.ts'
import { degreesText, duration, shortHex, shortMeters, timeUtc } from '../format.ts'
import { type Box, boxOf } from '../geo/shape.ts'
import { icon } from '../icons.ts'
import type { Engine } from '../kernel.ts'
import type { BaseMap, Scene } from '../map/base-map.ts'
import { createHandles, type HandleShape, type Handles } from '../map/handles.ts'
import type { Page, PageParts } from '../page.ts'
import { problemView } from '../problem-view.ts'
import { EvidenceMaker, type LabStamp, type LabState, PLUGINS, type PluginName } from './evidence.ts'
import { readProofArchive } from './proof-archive.ts'
import { drawLab, LAB_SCENE } from './scene.ts'
import { createStampCard, slider } from './stamp-card.ts'
import { stateOf, TEMPLATES, USUAL_ACCURACY } from './templates.ts'
import { createTimeBars } from './time-bars.ts'
import { dimensionCards } from './verdicts.ts'

const SETTLE_MS = 250
const CHAIN_ID = 84532

export function createLabPage(parts: PageParts): Page {
  const figure = h('p', { class: 'figure numeric' })
  const sentence = h('p', { class: 'sentence' })
  const tags = h('div', { class: 'row status' })
  const readout = h('section', { class: 'readout', 'aria-label': 'Verdict' }, tags, figure, sentence)
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
  const radius = slider(
    'claim-radius',
    'Radius',
    (share) => Number((10 * 10 ** (share * 4)).toPrecision(2)),
    (meters) => Math.log10(meters / 10) / 4,
    shortMeters,
    (radiusMeters, isFinal) => change({ radiusMeters }, isFinal),
  )
  const lasts = slider(
    'claim-lasts',
    'Lasts',
    (share) => Math.round(60 + share * share * 86_340),
    (seconds) => Math.sqrt((seconds - 60) / 86_340),
    duration,
    (lastsSeconds, isFinal) => change({ lastsSeconds }, isFinal),
  )
  const claimWords = h('p', { class: 'input-summary' })
  const bars = createTimeBars()
  const problem = h('div', { class: 'problem-slot' })
  const cards = h('div')
  const list = h('ol', { class: 'stamps' })
  const plugin = h(
    'select',
    { class: 'select', id: 'plugin', 'aria-label': 'Kind of evidence' },
    PLUGINS.map((name) => h('option', { value: name }, name)),
  )
  const file = h('input', {
    type: 'file',
    accept: '.zip,.json',
    id: 'evidence-file',
    class: 'sr-only',
    onchange: () => void readFile(),
  })
  const isSigned = h('input', {
    type: 'checkbox',
    role: 'switch',
    id: 'sign-proof',
    checked: true,
    onchange: () => void evaluate(),
  })
  const signature = h('div', { class: 'stack' })
  const save = h(
    'button',
    { class: 'button', type: 'button', onclick: () => saveAnswer() },
    icon('down'),
    'Download the answer',
  )
  const saveProof = h(
    'button',
    { class: 'button', type: 'button', onclick: () => saveProofAlone() },
    icon('down'),
    'Download the proof',
  )
  const rail = h(
    'div',
    { class: 'rail' },
    h(
      'div',
      { class: 'rail-head' },
      h('h1', { class: 'page-title' }, 'Proof lab'),
      h(
        'p',
        { class: 'lead' },
        'Claim a place and a time, lay evidence beside it, and see what the service makes of it.',
      ),
    ),
    h(
      'div',
      { class: 'panel plain' },
      h('div', { class: 'field' }, h('label', { for: 'template' }, 'Start from'), templates, lesson),
    ),
    h(
      'div',
      { class: 'panel' },
      h(
        'div',
        { class: 'input-head bare shape-a' },
        h('span', { class: 'letter', 'aria-hidden': 'true' }, 'C'),
        h('div', { class: 'input-words' }, h('h2', { class: 'stamp-title' }, 'The claim'), claimWords),
      ),
      radius.element,
      lasts.element,
      bars.element,
    ),
    h('div', { class: 'panel' }, h('h2', { class: 'eyebrow' }, 'Four dimensions'), problem, cards),
    h(
      'div',
      { class: 'panel' },
      h('h2', { class: 'eyebrow' }, 'Evidence'),
      list,
      h(
        'div',
        { class: 'row' },
        plugin,
        h(
          'button',
          { class: 'button', type: 'button', onclick: () => add(plugin.value as PluginName) },
          icon('plus'),
          'Add',
        ),
        file,
        h('label', { class: 'button', for: 'evidence-file' }, 'From a file'),
      ),
      h(
        'p',
        { class: 'hint' },
        'A file is a ProofMode archive (.zip) or a stamp as JSON; it is read here and sent as it is.',
      ),
    ),
    h(
      'div',
      { class: 'panel' },
      h('h2', { class: 'eyebrow' }, 'Signed outcome'),
      h('label', { class: 'switch' }, isSigned, 'Sign it for base-sepolia'),
      signature,
      h('div', { class: 'row' }, save, saveProof),
    ),
  )
  const element = h(
    'div',
    { class: 'compute lab', role: 'region', 'aria-label': 'Proof lab' },
    h('div', { class: 'stage' }, mapSlot, readout),
    rail,
  )

  let state: LabState = stateOf(TEMPLATES[0]!, Date.now() / 1000)
  let answer: VerifyProofResponse | undefined
  let maker: EvidenceMaker | undefined
  let engine: Engine | undefined
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let handles: Handles | undefined
  let isShown = false
  let settle: ReturnType<typeof setTimeout> | undefined
  let asking: AbortController | undefined
  let frame = 0
  const stampCards = new Map<number, ReturnType<typeof createStampCard>>()

  void EvidenceMaker.create().then((made) => {
    maker = made
    choose(0)
  })
  parts.engine.then(
    (loaded) => {
      engine = loaded
      draw()
    },
    () => {}, // the compute page says it; verdicts need no kernel here
  )
  mapSlot.addEventListener('dragover', (event) => event.preventDefault())
  mapSlot.addEventListener('drop', (event) => {
    event.preventDefault()
    const dropped = event.dataTransfer?.files[0]
    if (dropped !== undefined) void addFile(dropped)
  })

  return {
    element,
    enter() {
      isShown = true
      parts.takeMap(mapSlot).then(useMap, () => {}) // the slot says that there is none
    },
    leave() {
      isShown = false
      handles?.clear()
    },
  }

  function choose(index: number): void {
    const template = TEMPLATES[index]!
    lesson.textContent = template.lesson
    state = stateOf(template, Date.now() / 1000)
    changed(true)
    showAll()
  }

  function change(patch: Partial<LabState>, isFinal = true): void {
    state = { ...state, ...patch }
    changed(isFinal)
  }

  function changeStamp(id: number, patch: Partial<LabStamp>, isFinal: boolean): void {
    change({ stamps: state.stamps.map((stamp) => (stamp.id === id ? { ...stamp, ...patch } : stamp)) }, isFinal)
  }

  function add(name: PluginName, more: Partial<LabStamp> = {}): void {
    const id = Math.max(0, ...state.stamps.map((stamp) => stamp.id)) + 1
    const stamp: LabStamp = {
      id,
      plugin: name,
      place: state.place,
      accuracyMeters: USUAL_ACCURACY[name],
      startSeconds: 900,
      lastsSeconds: 120,
      signer: 'subject',
      isForged: false,
      ...more,
    }
    change({ stamps: [...state.stamps, stamp] })
  }

  async function readFile(): Promise<void> {
    const chosen = file.files?.[0]
    file.value = ''
    if (chosen !== undefined) await addFile(chosen)
  }

  async function addFile(chosen: File): Promise<void> {
    try {
      const stamp = await readProofArchive(chosen)
      const location = stamp.location as Geometry
      const point = location.type === 'Point' ? location.coordinates : state.place
      add(PLUGINS.find((name) => name === stamp.plugin) ?? 'proofmode', { given: stamp, place: [point[0]!, point[1]!] })
      toast('Added; the claim may need its place and time')
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error))
    }
  }

  function changed(isFinal: boolean): void {
    answer = undefined
    asking?.abort()
    show()
    clearTimeout(settle)
    if (isFinal) settle = setTimeout(() => void evaluate(), SETTLE_MS)
  }

  async function evaluate(): Promise<void> {
    if (maker === undefined) return
    asking?.abort()
    const controller = new AbortController()
    asking = controller
    if (state.stamps.length === 0) {
      replace(cards, h('p', { class: 'hint' }, 'A claim without evidence is only a claim: add a stamp.'))
      return
    }
    try {
      const options = isSigned.checked ? { chainId: CHAIN_ID } : {}
      const found = await parts.api.client.verify.proof(maker.proof(state), { ...options, signal: controller.signal })
      if (controller.signal.aborted) return
      answer = found
      replace(problem)
      show()
      announce(`${figure.textContent}. ${sentence.textContent}`)
      await checkSignature(found)
    } catch (error) {
      if (controller.signal.aborted) return
      replace(problem, problemView(error))
      show()
    }
  }

  async function checkSignature(found: VerifyProofResponse): Promise<void> {
    if (found.attestation === undefined) {
      replace(signature, h('p', { class: 'hint' }, 'Judged and not signed.'))
      return
    }
    const verdict: Verdict = await verifyResult(found, { chainId: CHAIN_ID, issuer: await parts.api.issuer() })
    if (found !== answer) return
    const wrong = verdict.checks.find(({ status }) => status === 'fail')
    replace(
      signature,
      h(
        'p',
        { class: `tag ${verdict.ok ? 'good' : 'bad'}` },
        icon(verdict.ok ? 'check' : 'cross'),
        verdict.ok ? 'Signed, and verified in your browser' : `Does not hold: ${wrong?.detail}`,
      ),
      h(
        'p',
        { class: 'hint' },
        `It says: ${verdict.statement ?? ''}. By ${shortHex(verdict.signer ?? '')}, as of ${timeUtc(found.evaluatedAt)}. A signature on a verdict does not make it a good one: read the numbers.`,
      ),
    )
  }

  function show(): void {
    claimWords.textContent = `${degreesText(state.place[0], state.place[1], 5)}, ${timeUtc(state.startSeconds)}`
    radius.show(state.radiusMeters)
    lasts.show(state.lastsSeconds)
    bars.show(state)
    showStamps()
    element.dataset['busy'] = String(answer === undefined)
    save.disabled = answer === undefined
    if (answer !== undefined) replace(cards, dimensionCards(answer))
    showReadout()
    cancelAnimationFrame(frame)
    frame = requestAnimationFrame(draw)
  }

  function showStamps(): void {
    for (const [id, card] of stampCards) {
      if (state.stamps.some((stamp) => stamp.id === id)) continue
      card.element.remove()
      stampCards.delete(id)
    }
    for (const [index, stamp] of state.stamps.entries()) {
      let card = stampCards.get(stamp.id)
      if (card === undefined) {
        card = createStampCard(
          stamp.id,
          (patch, isFinal) => changeStamp(stamp.id, patch, isFinal),
          () => change({ stamps: state.stamps.filter(({ id }) => id !== stamp.id) }),
        )
        stampCards.set(stamp.id, card)
        list.append(card.element)
      }
      card.show(stamp, answer?.credibility.stampResults[index])
    }
  }

  function showReadout(): void {
    const count = state.stamps.length
    if (answer === undefined) {
      replace(tags, h('span', { class: 'tag' }, count === 0 ? 'No evidence' : 'Not judged yet'))
      readout.dataset['verdict'] = 'none'
      return
    }
    const { supportingStamps, supportingSigners, mockStamps, duplicateStamps } = answer.credibility.extensions
    readout.dataset['verdict'] = supportingStamps === count ? 'good' : 'bad'
    replace(
      figure,
      h('span', { class: 'value' }, supportingStamps),
      h('span', { class: 'unit' }, ` of ${count} support the claim`),
    )
    const notes = [
      supportingSigners === 1 ? 'one key stands behind them' : `${supportingSigners} keys stand behind them`,
      mockStamps > 0 && `${mockStamps} made up`,
      duplicateStamps > 0 && `${duplicateStamps} twice`,
    ]
    sentence.textContent = `Valid in every way, within the radius and in time; ${notes.filter(Boolean).join(', ')}.`
    replace(
      tags,
      h(
        'span',
        { class: `tag ${supportingStamps === count ? 'good' : 'bad'}` },
        icon(supportingStamps === count ? 'check' : 'cross'),
        supportingStamps === count ? 'All of it holds' : 'Not all of it holds',
      ),
    )
  }

  function draw(): void {
    if (scene === undefined || engine === undefined || !isShown) return
    drawLab(scene, state, answer, engine.kernel)
    const shape = (
      slot: string,
      letter: string,
      className: string,
      [longitude, latitude]: LabState['place'],
    ): HandleShape => ({ slot, letter, className, geometry: { type: 'Point', coordinates: [longitude, latitude] } })
    handles?.show([
      shape('claim', 'C', 'first', state.place),
      ...state.stamps
        .filter(({ given }) => given === undefined)
        .map(({ id, place }) => shape(String(id), String(id), 'second', place)),
    ])
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    const isFirst = base === undefined
    base = loaded
    scene = base.enter(LAB_SCENE)
    if (isFirst) {
      handles = createHandles(base, (slot, geometry, isFinal) => {
        if (geometry.type !== 'Point') return
        const place = [geometry.coordinates[0], geometry.coordinates[1]] as const
        if (slot === 'claim') change({ place }, isFinal)
        else changeStamp(Number(slot), { place }, isFinal)
      })
      base.host.addEventListener('fit', () => isShown && showAll())
    }
    draw()
    showAll(false)
  }

  function showAll(animate = true): void {
    const points = [state.place, ...state.stamps.map(({ place }) => place)].map(([x, y]) => ({
      type: 'Point' as const,
      coordinates: [x, y] as [number, number],
    }))
    const box = boxOf(points)
    if (box !== undefined) base?.fit(around(box, state.radiusMeters), animate)
  }

  function saveAnswer(): void {
    if (answer !== undefined) download('verified-proof.json', JSON.stringify(answer, null, 2))
  }

  function saveProofAlone(): void {
    if (maker !== undefined) download('proof.json', JSON.stringify(maker.proof(state), null, 2))
  }
}

/** A box with so many metres around it, roughly. */
function around([west, south, east, north]: Box, meters: number): Box {
  const latitude = meters / 111_000
  const longitude = latitude / Math.max(0.05, Math.cos((south * Math.PI) / 180))
  return [west - longitude, south - latitude, east + longitude, north + latitude]
}
