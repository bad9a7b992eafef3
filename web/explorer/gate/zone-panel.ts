/** The panel of the zone: examples, drawing tools, the shape as text, and the radius. */
import { h } from '../dom.ts'
import { degreesText } from '../format.ts'
import { readText } from '../geo/read-text.ts'
import { vertexCount } from '../geo/shape.ts'
import { icon } from '../icons.ts'
import type { DrawKind } from '../map/drawing.ts'
import { EXAMPLES, MAX_RADIUS_METERS, MIN_RADIUS_METERS, middleOf, readRadius, type Zone } from './zone.ts'

const TOOLS: readonly (readonly [DrawKind, string])[] = [
  ['point', 'Choose the centre of a circle'],
  ['rectangle', 'Draw a rectangle'],
  ['polygon', 'Draw a polygon'],
]

export function createZonePanel(
  change: (patch: Partial<Zone>) => void,
  choose: (zone: Zone) => void,
  draw: (kind: DrawKind) => void,
) {
  const examples = h(
    'select',
    { class: 'select', id: 'gate-example', onchange: () => choose(EXAMPLES[Number(examples.value)]!.zone) },
    h('option', { value: '', hidden: true }, 'A zone of your own'),
    EXAMPLES.map(({ title }, index) => h('option', { value: index }, title)),
  )
  const summary = h('p', { class: 'hint', id: 'gate-zone-summary' })
  const tools = TOOLS.map(([kind, label]) =>
    h(
      'button',
      {
        class: 'icon-button',
        type: 'button',
        'aria-label': label,
        title: label,
        'aria-pressed': 'false',
        onclick: () => draw(kind),
      },
      icon(kind),
    ),
  )
  const radius = h('input', {
    class: 'input numeric',
    id: 'gate-radius',
    inputmode: 'decimal',
    autocomplete: 'off',
    'aria-describedby': 'gate-radius-message',
    oninput: () => readRadiusField(),
  })
  const radiusMessage = h('p', { class: 'hint', id: 'gate-radius-message', 'aria-live': 'polite' })
  const text = h('textarea', {
    class: 'textarea',
    id: 'gate-zone-text',
    rows: 3,
    spellcheck: 'false',
    'aria-describedby': 'gate-text-message',
    oninput: () => readShapeField(),
  })
  const textMessage = h('p', { class: 'hint', id: 'gate-text-message', 'aria-live': 'polite' })
  const fields = h(
    'fieldset',
    { class: 'gate-fields stack' },
    h('legend', { class: 'sr-only' }, 'The zone'),
    h('div', { class: 'field' }, h('label', { for: 'gate-example' }, 'Start from'), examples),
    h(
      'div',
      { class: 'row between' },
      summary,
      h('div', { class: 'row tight', role: 'group', 'aria-label': 'Draw the zone' }, tools),
    ),
    h('div', { class: 'field' }, h('label', { for: 'gate-radius' }, 'Radius in metres'), radius, radiusMessage),
    h(
      'details',
      {},
      h('summary', {}, 'Edit the shape as text'),
      h(
        'div',
        { class: 'field' },
        h('label', { for: 'gate-zone-text' }, 'The zone as coordinates, GeoJSON or WKT'),
        text,
        textMessage,
      ),
    ),
  )
  const element = h(
    'section',
    { class: 'panel', 'aria-label': 'Zone' },
    h('h2', { class: 'eyebrow' }, '1. Zone'),
    fields,
  )
  return { element, show }

  /** @param drawing the tool that is in use */
  function show(zone: Zone, drawing: DrawKind | undefined, isLocked: boolean): void {
    fields.disabled = isLocked
    const example = EXAMPLES.findIndex(({ zone: one }) => JSON.stringify(one) === JSON.stringify(zone))
    examples.value = example < 0 ? '' : String(example)
    for (const [index, tool] of tools.entries()) tool.setAttribute('aria-pressed', String(TOOLS[index]![0] === drawing))
    summary.textContent = wordsFor(zone)
    if (document.activeElement !== radius) showRadius(zone.radiusMeters)
    if (document.activeElement !== text) {
      text.value = JSON.stringify(zone.target)
      text.removeAttribute('aria-invalid')
      textMessage.textContent = ''
    }
  }

  function showRadius(meters: number): void {
    radius.value = String(meters)
    radius.removeAttribute('aria-invalid')
    radiusMessage.textContent = 'The greatest distance from the shape at which the gate opens.'
  }

  function readRadiusField(): void {
    const meters = readRadius(radius.value)
    radius.setAttribute('aria-invalid', String(meters === undefined))
    radiusMessage.textContent =
      meters === undefined
        ? `Type a number from ${MIN_RADIUS_METERS} to ${MAX_RADIUS_METERS.toLocaleString('en')}. The last valid radius is still used.`
        : 'The greatest distance from the shape at which the gate opens.'
    if (meters !== undefined) change({ radiusMeters: meters })
  }

  function readShapeField(): void {
    const read = readText(text.value)
    const isShape = read.ok && 'type' in read.input && read.input.type !== 'Feature'
    text.setAttribute('aria-invalid', String(!isShape))
    if (!read.ok) textMessage.textContent = read.reason
    else if (!isShape) textMessage.textContent = 'This is not a shape. Type coordinates, GeoJSON or WKT.'
    else {
      textMessage.textContent = `Read as ${read.form}.`
      change({ target: read.input as Zone['target'] })
    }
  }
}

/** Describes a zone in a few words. */
function wordsFor(zone: Zone): string {
  const { target } = zone
  if (target.type === 'Point') return `A circle around ${degreesText(target.coordinates[0], target.coordinates[1])}`
  const [longitude, latitude] = middleOf(zone)
  return `${target.type} with ${vertexCount(target)} vertices near ${degreesText(longitude, latitude, 2)}`
}
