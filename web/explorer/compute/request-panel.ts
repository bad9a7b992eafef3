/** The form of the request: operation, inputs, radius, chain, recipient, examples. */
import type { Issuer } from '../../../src/client/answers.ts'
import { OPERATIONS } from '../../../src/compute/operations.ts'
import type { Input } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { icon } from '../icons.ts'
import type { DrawKind } from '../map/drawing.ts'
import { EXAMPLES, type Example } from './examples.ts'
import { createInputCard } from './input-card.ts'
import { OPERATION_NAMES, type RequestDraft, takesTwo, WORDS } from './request-draft.ts'

export interface RequestPanelParts {
  change(patch: Partial<RequestDraft>, isFinal?: boolean): void
  choose(operation: RequestDraft['operation']): void
  draw(slot: 'a' | 'b', kind: DrawKind): void
  example(example: Example): void
}

const LARGEST_RADIUS_METERS = 20_037_508
const SMALLEST_RADIUS_METERS = 1

export function createRequestPanel({ change, choose, draw, example }: RequestPanelParts) {
  const operations = h('div', { class: 'segments operations', role: 'tablist', 'aria-label': 'Operation' })
  const tabs = OPERATION_NAMES.map((name) =>
    h(
      'button',
      { type: 'button', role: 'tab', id: `op-${name}`, 'aria-controls': 'request', onclick: () => choose(name) },
      WORDS[name].title,
    ),
  )
  operations.append(...tabs)
  operations.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 3, ArrowUp: -3 }[event.key]
    const at = tabs.indexOf(event.target as HTMLButtonElement)
    const next = by === undefined ? undefined : tabs[(at + by + tabs.length) % tabs.length]
    if (next === undefined) return
    event.preventDefault()
    next.click()
    next.focus()
  })

  const heading = h('h1', { class: 'question' })
  const cards = {
    a: createInputCard(
      'A',
      (a: Input) => change({ a }),
      (kind) => draw('a', kind),
    ),
    b: createInputCard(
      'B',
      (b: Input) => change({ b }),
      (kind) => draw('b', kind),
    ),
  }
  const swap = h(
    'button',
    { class: 'icon-button swap', type: 'button', 'aria-label': 'Swap A and B', title: 'Swap A and B' },
    icon('swap'),
  )
  const radius = createRadius(change)
  const edges = h(
    'select',
    {
      class: 'select',
      id: 'edges',
      onchange: () => change({ edges: edges.value === 'geodesic' ? 'geodesic' : undefined }),
    },
    h('option', { value: '' }, 'Straight in longitude and latitude'),
    h('option', { value: 'geodesic' }, 'Geodesics, the shortest lines on the ground'),
  )
  const edgesField = h('div', { class: 'field edges' }, h('label', { for: 'edges' }, 'Edges'), edges)
  const privacy = h('input', {
    type: 'checkbox',
    role: 'switch',
    id: 'private',
    'aria-describedby': 'private-hint',
    onchange: () => change({ isPrivate: privacy.checked || undefined }),
  })
  const privacyField = h(
    'div',
    { class: 'field' },
    h('label', { class: 'switch' }, privacy, 'Hide the inputs with salts'),
    h(
      'p',
      { class: 'hint', id: 'private-hint' },
      'Nobody can then guess an input from the result. Keep the salts: the service does not.',
    ),
  )
  const chain = h('select', { class: 'select', id: 'chain', onchange: () => change({ chainId: Number(chain.value) }) })
  const recipient = h('input', {
    class: 'input mono',
    id: 'recipient',
    placeholder: 'Anyone',
    spellcheck: 'false',
    oninput: () => readRecipient(),
  })
  const recipientHint = h('p', { class: 'hint', id: 'recipient-hint' })
  recipient.setAttribute('aria-describedby', 'recipient-hint')
  const more = h(
    'details',
    { class: 'fold more' },
    h('summary', {}, 'Signed for', h('span', { class: 'tail' })),
    h(
      'div',
      { class: 'stack' },
      h('div', { class: 'field' }, h('label', { for: 'chain' }, 'Chain'), chain),
      h('div', { class: 'field' }, h('label', { for: 'recipient' }, 'Recipient'), recipient, recipientHint),
    ),
  )
  const lesson = h('p', { class: 'hint', id: 'lesson' })
  const examples = h('select', {
    class: 'select',
    id: 'examples',
    'aria-describedby': 'lesson',
    onchange: () => pick(),
  })
  const panel = h(
    'div',
    { class: 'panel', id: 'request', role: 'tabpanel' },
    heading,
    cards.a.element,
    h('div', { class: 'between-inputs' }, swap),
    cards.b.element,
    radius.element,
    edgesField,
    privacyField,
    more,
  )
  const element = h(
    'form',
    { class: 'request-panel', 'aria-label': 'Request', onsubmit: (event: Event) => event.preventDefault() },
    h(
      'div',
      { class: 'panel examples' },
      h('div', { class: 'field' }, h('label', { for: 'examples' }, 'Start from an example'), examples, lesson),
    ),
    operations,
    panel,
  )
  replace(
    examples,
    h('option', { value: '' }, 'Your own request'),
    EXAMPLES.map(({ title }, index) => h('option', { value: index }, title)),
  )
  let draft: RequestDraft | undefined
  swap.addEventListener('click', () => {
    if (draft?.b !== undefined) change({ a: draft.b, b: draft.a })
  })

  return { element, show, showIssuer, showExample }

  function show(next: RequestDraft, drawing: { slot: 'a' | 'b'; kind: DrawKind } | undefined): void {
    draft = next
    const { title, question: text, roles, draws } = WORDS[next.operation]
    for (const tab of tabs) {
      const isChosen = tab.id === `op-${next.operation}`
      tab.setAttribute('aria-selected', String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
    }
    panel.setAttribute('aria-labelledby', `op-${next.operation}`)
    heading.textContent = text
    heading.title = title
    const hasTwo = takesTwo(next.operation)
    cards.a.show(next.a, roles[0]!, draws[0]!, drawing?.slot === 'a' ? drawing.kind : undefined)
    if (hasTwo) cards.b.show(next.b, roles[1]!, draws[1]!, drawing?.slot === 'b' ? drawing.kind : undefined)
    cards.b.element.hidden = !hasTwo
    swap.parentElement!.hidden = !hasTwo
    swap.disabled = next.b === undefined
    radius.element.hidden = next.operation !== 'within'
    radius.show(next.radiusMeters)
    edgesField.hidden = !OPERATIONS[next.operation].takesEdges
    edges.value = next.edges ?? ''
    privacy.checked = next.isPrivate === true
    chain.value = String(next.chainId)
    if (document.activeElement !== recipient) recipient.value = next.recipient
    const chainName = chain.selectedOptions[0]?.textContent ?? String(next.chainId)
    more.querySelector('.tail')!.textContent = `${chainName}, ${next.recipient === '' ? 'anyone' : 'one recipient'}`
  }

  function showIssuer(issuer: Issuer): void {
    replace(
      chain,
      issuer.chains.map(({ chainId, name }) => h('option', { value: chainId }, `${name} (${chainId})`)),
    )
    if (draft !== undefined) show(draft, undefined)
  }

  function showExample(index: number): void {
    examples.value = index < 0 ? '' : String(index)
    lesson.textContent =
      EXAMPLES[index]?.lesson ??
      'Draw, paste or type an input. Each change is previewed in this page and then signed by the service.'
  }

  function pick(): void {
    const chosen = EXAMPLES[Number(examples.value)]
    showExample(examples.value === '' ? -1 : Number(examples.value))
    if (chosen !== undefined && examples.value !== '') example(chosen)
  }

  function readRecipient(): void {
    const text = recipient.value.trim()
    const isFine = text === '' || /^0x[0-9a-fA-F]{40}$/.test(text)
    recipient.setAttribute('aria-invalid', String(!isFine))
    recipientHint.textContent = isFine ? '' : 'An address is 0x followed by 40 hex digits.'
    if (isFine) change({ recipient: text })
  }
}

/** The radius in metres, as a number field and a logarithmic slider. */
function createRadius(change: RequestPanelParts['change']) {
  const input = h('input', {
    class: 'input numeric',
    id: 'radius',
    type: 'number',
    min: 0.01,
    step: 'any',
    oninput: () => read(input.value, true),
  })
  const slider = h('input', {
    class: 'range',
    type: 'range',
    min: 0,
    max: 1000,
    'aria-label': 'Radius, logarithmic',
    oninput: () => slide(false),
    onchange: () => slide(true),
  })
  const element = h(
    'div',
    { class: 'field radius' },
    h('label', { for: 'radius' }, 'Radius in metres'),
    h('div', { class: 'radius-row' }, input, slider),
  )
  const span = Math.log(LARGEST_RADIUS_METERS / SMALLEST_RADIUS_METERS)
  return { element, show }

  function show(meters: number): void {
    if (document.activeElement !== input) input.value = String(meters)
    const share = Math.max(0, Math.log(meters / SMALLEST_RADIUS_METERS) / span)
    if (document.activeElement !== slider) slider.value = String(Math.round(share * 1000))
    slider.style.setProperty('--filled', `${share * 100}%`)
  }

  function slide(isFinal: boolean): void {
    const meters = SMALLEST_RADIUS_METERS * Math.exp((Number(slider.value) / 1000) * span)
    change({ radiusMeters: Number(meters.toPrecision(3)) }, isFinal)
  }

  function read(text: string, isFinal: boolean): void {
    const meters = Number(text)
    const isFine = Number.isFinite(meters) && meters >= 0.005 && meters <= LARGEST_RADIUS_METERS
    input.setAttribute('aria-invalid', String(!isFine))
    if (isFine) change({ radiusMeters: meters }, isFinal)
  }
}
