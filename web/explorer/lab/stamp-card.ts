import type { Point, StampResult } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { degreesText, duration } from '../format.ts'
import { readText } from '../geo/read-text.ts'
import { icon } from '../icons.ts'
import type { LabStamp, Signer } from './evidence.ts'
import { stampVerdict } from './verdicts.ts'

const SIGNERS: Readonly<Record<Signer, string>> = {
  subject: 'the subject',
  stranger: 'another key',
  nobody: 'no key',
}

/** The card of one stamp: its fields, controls to change them, and the verdict of the service. */
export function createStampCard(
  id: number,
  change: (patch: Partial<LabStamp>, isFinal: boolean) => void,
  remove: () => void,
) {
  const title = h('h3', { class: 'stamp-title' })
  const where = h('p', { class: 'input-summary' })
  const accuracy = slider(
    `accuracy-${id}`,
    'Accuracy',
    (share) => Math.max(1, Number((10 ** (share * 5)).toPrecision(2))),
    (meters) => Math.log10(meters) / 5,
    (meters) => `${meters} m`,
    (accuracyMeters, isFinal) => change({ accuracyMeters }, isFinal),
  )
  const start = slider(
    `start-${id}`,
    'Start',
    (share) => Math.round((share * 240 - 120) * 60),
    (seconds) => (seconds / 60 + 120) / 240,
    (seconds) => `${duration(Math.abs(seconds))} ${seconds < 0 ? 'before' : 'after'} the claim starts`,
    (startSeconds, isFinal) => change({ startSeconds }, isFinal),
  )
  const lasts = slider(
    `lasts-${id}`,
    'Duration',
    (share) => Math.round(share * share * 14_400),
    (seconds) => Math.sqrt(seconds / 14_400),
    duration,
    (lastsSeconds, isFinal) => change({ lastsSeconds }, isFinal),
  )
  const signer = h(
    'select',
    { class: 'select', id: `signer-${id}`, onchange: () => change({ signer: signer.value as Signer }, true) },
    Object.entries(SIGNERS).map(([value, words]) => h('option', { value }, words)),
  )
  const forged = h('input', {
    type: 'checkbox',
    role: 'switch',
    id: `forged-${id}`,
    onchange: () => change({ isForged: forged.checked }, true),
  })
  const place = h('input', { class: 'input mono', id: `place-${id}`, spellcheck: 'false', onchange: () => readPlace() })
  const editor = h(
    'details',
    { class: 'fold' },
    h('summary', {}, 'Change this stamp'),
    h(
      'div',
      { class: 'stack what-if' },
      accuracy.element,
      start.element,
      lasts.element,
      h(
        'div',
        { class: 'filter-grid two' },
        h('div', { class: 'field' }, h('label', { for: `place-${id}` }, 'Longitude, latitude'), place),
        h('div', { class: 'field' }, h('label', { for: `signer-${id}` }, 'Signed by'), signer),
      ),
      h('label', { class: 'switch' }, forged, 'Change it after signing'),
    ),
  )
  const verdict = h('div', { class: 'stack' })
  const element = h(
    'li',
    { class: 'stamp shape-b' },
    h(
      'div',
      { class: 'input-head' },
      h('span', { class: 'letter', 'aria-hidden': 'true' }, id),
      h('div', { class: 'input-words' }, title, where),
      h(
        'button',
        { class: 'icon-button', type: 'button', 'aria-label': `Remove stamp ${id}`, title: 'Remove', onclick: remove },
        icon('trash'),
      ),
    ),
    h('div', { class: 'stamp-body' }, verdict, editor),
  )
  return { element, show }

  function show(stamp: LabStamp, result: StampResult | undefined): void {
    title.textContent = stamp.plugin
    where.textContent = `${degreesText(stamp.place[0], stamp.place[1], 5)}, signed by ${SIGNERS[stamp.signer]}${stamp.isForged ? ', changed after signing' : ''}`
    editor.hidden = stamp.given !== undefined
    accuracy.show(stamp.accuracyMeters)
    start.show(stamp.startSeconds)
    lasts.show(stamp.lastsSeconds)
    signer.value = stamp.signer
    forged.checked = stamp.isForged
    if (document.activeElement !== place) place.value = stamp.place.join(', ')
    const wasOpen = verdict.querySelector('details')?.open === true
    replace(verdict, result === undefined ? h('p', { class: 'hint' }, 'Not evaluated yet.') : stampVerdict(result))
    const fold = verdict.querySelector('details')
    if (fold !== null) fold.open = wasOpen
  }

  function readPlace(): void {
    const read = readText(place.value)
    const point = read.ok && 'type' in read.input && read.input.type === 'Point' ? (read.input as Point) : undefined
    place.setAttribute('aria-invalid', String(point === undefined))
    if (point !== undefined) change({ place: [point.coordinates[0], point.coordinates[1]] }, true)
  }
}

/** A slider with a scale of its own, such as a logarithmic one. */
export function slider(
  id: string,
  label: string,
  valueAt: (share: number) => number,
  shareAt: (value: number) => number,
  words: (value: number) => string,
  changed: (value: number, isFinal: boolean) => void,
) {
  const output = h('output', { for: id, class: 'numeric' })
  const input = h('input', {
    class: 'range',
    type: 'range',
    id,
    min: 0,
    max: 1000,
    oninput: () => move(false),
    onchange: () => move(true),
  })
  const element = h(
    'div',
    { class: 'field slider' },
    h('div', { class: 'row between' }, h('label', { for: id }, label), output),
    input,
  )

  function move(isFinal: boolean): void {
    changed(valueAt(Number(input.value) / 1000), isFinal)
  }

  function show(value: number): void {
    const share = Math.max(0, Math.min(1, shareAt(value)))
    if (document.activeElement !== input) input.value = String(Math.round(share * 1000))
    input.style.setProperty('--filled', `${share * 100}%`)
    input.setAttribute('aria-valuetext', words(value))
    output.textContent = words(value)
  }

  return { element, show }
}
