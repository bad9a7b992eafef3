/** The card of one input: a summary, drawing tools, and the input as text. */
import type { Geometry, Input } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { degreesText, exactDegreesText, shortHex } from '../format.ts'
import { readText } from '../geo/read-text.ts'
import { boxOf, type LonLat, vertexCount } from '../geo/shape.ts'
import { type IconName, icon } from '../icons.ts'
import type { DrawKind } from '../map/drawing.ts'
import { geometryOf } from './request-draft.ts'

export interface InputCard {
  readonly element: HTMLElement
  /** @param input undefined while it is not set */
  show(input: Input | undefined, role: string, draws: readonly DrawKind[], drawing: DrawKind | undefined): void
}

const DRAW_LABELS: Readonly<Record<DrawKind, string>> = {
  point: 'a point',
  line: 'a line',
  polygon: 'a polygon',
  rectangle: 'a rectangle',
  circle: 'a circle',
}
/** Longer texts are cut and read-only, because 50,000 vertices make a text field slow. */
const SHOWN_CHARACTERS = 60_000

export function createInputCard(
  letter: 'A' | 'B',
  changed: (input: Input) => void,
  draw: (kind: DrawKind) => void,
): InputCard {
  const slot = letter.toLowerCase()
  const role = h('h2', { class: 'input-role' })
  const summary = h('p', { class: 'input-summary' })
  const tools = h('div', { class: 'row draw-tools', role: 'group', 'aria-label': `Draw ${letter}` })
  const area = h('textarea', {
    class: 'textarea',
    id: `text-${slot}`,
    spellcheck: 'false',
    rows: 7,
    oninput: () => read(),
    placeholder: 'Coordinates, GeoJSON or WKT',
  })
  const message = h('p', { class: 'hint', id: `text-${slot}-message`, 'aria-live': 'polite' })
  const choices = h('div', { class: 'row choices', role: 'group', 'aria-labelledby': message.id })
  const editor = h(
    'div',
    { class: 'field input-editor', hidden: true },
    h('label', { for: `text-${slot}` }, `${letter} as coordinates, GeoJSON, WKT, or the UID of an attestation`),
    area,
    message,
    choices,
  )
  const edit = h(
    'button',
    {
      class: 'icon-button',
      type: 'button',
      'aria-label': `Edit ${letter} as text`,
      title: 'Edit as text',
      'aria-expanded': 'false',
      onclick: () => toggle(),
    },
    icon('text'),
  )
  area.setAttribute('aria-describedby', message.id)
  const element = h(
    'section',
    { class: `input-card shape-${slot}`, 'aria-label': `Input ${letter}` },
    h(
      'div',
      { class: 'input-head' },
      h('span', { class: 'letter', 'aria-hidden': 'true' }, letter),
      h('div', { class: 'input-words' }, role, summary),
      h('div', { class: 'row tight' }, tools, edit),
    ),
    editor,
  )
  let current: Input | undefined
  /** True while the input comes from the text field, which must then not be overwritten. */
  let isTyping = false

  return { element, show }

  function show(
    input: Input | undefined,
    roleName: string,
    draws: readonly DrawKind[],
    drawing: DrawKind | undefined,
  ): void {
    role.textContent = roleName
    summary.textContent = summaryOf(input)
    const buttons = draws.map((kind) => {
      const label = `Draw ${DRAW_LABELS[kind]} as ${letter}`
      const attributes = {
        class: 'icon-button',
        type: 'button',
        'aria-label': label,
        title: label,
        'data-key': `draw-${slot}-${kind}`,
        'aria-pressed': kind === drawing,
        onclick: () => draw(kind),
      }
      return h('button', attributes, icon(kind as IconName))
    })
    for (const button of buttons) if (!button.hasAttribute('aria-pressed')) button.setAttribute('aria-pressed', 'false')
    replace(tools, buttons)
    if (input !== current && !isTyping && !editor.hidden) fill(input)
    current = input
  }

  function toggle(): void {
    editor.hidden = !editor.hidden
    edit.setAttribute('aria-expanded', String(!editor.hidden))
    edit.setAttribute('aria-pressed', String(!editor.hidden))
    if (editor.hidden) return
    fill(current)
    area.focus()
    area.select()
  }

  function fill(input: Input | undefined): void {
    const text = input === undefined ? '' : textOf(input)
    area.value = text.length > SHOWN_CHARACTERS ? `${text.slice(0, SHOWN_CHARACTERS)} …` : text
    area.readOnly = text.length > SHOWN_CHARACTERS
    area.removeAttribute('aria-invalid')
    message.textContent = area.readOnly ? 'This text is too long to edit here.' : ''
    replace(choices)
  }

  function read(): void {
    isTyping = true
    const found = readText(area.value)
    replace(choices, found.ok ? undefined : found.choices?.map(choiceOf))
    if (found.ok) {
      area.removeAttribute('aria-invalid')
      message.textContent = `Read as ${found.form}.`
      changed(found.input)
    } else {
      if (found.choices === undefined) area.setAttribute('aria-invalid', 'true')
      else area.removeAttribute('aria-invalid')
      message.textContent = found.reason
    }
    isTyping = false
  }

  function choiceOf([longitude, latitude]: LonLat): HTMLElement {
    const words = exactDegreesText(longitude, latitude)
    const choose = () => {
      area.value = words
      read()
      area.focus()
    }
    return h('button', { class: 'button small', type: 'button', onclick: choose }, words)
  }
}

function textOf(input: Input): string {
  if ('uid' in input && !('uri' in input)) return input.uid as string
  return JSON.stringify(input, null, 1).replace(/\[\s*(-?[\d.e+-]+),\s*(-?[\d.e+-]+)\s*\]/g, '[$1, $2]')
}

function summaryOf(input: Input | undefined): string {
  if (input === undefined) return 'Not set'
  if ('uid' in input) return `Attestation ${shortHex(String(input.uid))}`
  if ('attestation' in input) return 'The location of an off-chain attestation'
  if ('verifiedProof' in input) return 'The claimed location of a verified proof'
  const geometry = geometryOf(input)
  if (geometry === undefined) return 'Unknown kind of input'
  if (geometry.type === 'Point') return degreesText(geometry.coordinates[0], geometry.coordinates[1])
  const count = vertexCount(geometry)
  return `${nameOf(geometry)}, ${count} ${count === 1 ? 'vertex' : 'vertices'}, ${extentOf(geometry)}`
}

function nameOf({ type }: Geometry): string {
  return {
    LineString: 'Line',
    MultiLineString: 'Lines',
    MultiPolygon: 'Polygons',
    MultiPoint: 'Points',
    GeometryCollection: 'Collection',
    Polygon: 'Polygon',
    Point: 'Point',
  }[type]
}

function extentOf(geometry: Geometry): string {
  const box = boxOf([geometry])
  return box === undefined
    ? ''
    : `near ${degreesText((box[0] + box[2]) / 2 > 180 ? (box[0] + box[2]) / 2 - 360 : (box[0] + box[2]) / 2, (box[1] + box[3]) / 2, 1)}`
}
