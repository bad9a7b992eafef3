/** Ways to use the request and its response: code, a link, a transaction. */
import { copy, h, replace } from '../dom.ts'
import { icon } from '../icons.ts'
import type { PageParts } from '../page.ts'
import { chainOf } from './attestation.ts'
import { codeOf, highlighted, LANGUAGES, type Language } from './code.ts'
import type { Session, State } from './session.ts'
import { createSubmitPanel } from './submit.ts'

export function createUsePanel(session: Session, parts: PageParts, share: () => void) {
  let language: Language = 'curl'
  const code = h('pre', { class: 'code-block', id: 'code', role: 'tabpanel', tabindex: 0 })
  const tabs = LANGUAGES.map((name) =>
    h(
      'button',
      { type: 'button', role: 'tab', id: `code-${name}`, 'aria-controls': 'code', onclick: () => choose(name) },
      name,
    ),
  )
  const list = h('div', { class: 'segments languages', role: 'tablist', 'aria-label': 'Language' }, tabs)
  list.addEventListener('keydown', (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const next =
      by === undefined
        ? undefined
        : tabs[(tabs.indexOf(event.target as HTMLButtonElement) + by + tabs.length) % tabs.length]
    next?.click()
    next?.focus()
  })
  const copyCode = h(
    'button',
    {
      class: 'icon-button on-code',
      type: 'button',
      'aria-label': 'Copy the code',
      title: 'Copy the code',
      onclick: () => void copy(textOf(), 'Code'),
    },
    icon('copy'),
  )
  const submit = createSubmitPanel(parts.issuer)
  const element = h(
    'section',
    { class: 'panel', 'aria-label': 'Use it' },
    h(
      'div',
      { class: 'row between' },
      h('h2', { class: 'eyebrow' }, 'Use it'),
      h('button', { class: 'button small', type: 'button', onclick: share }, icon('share'), 'Copy link'),
    ),
    list,
    h('div', { class: 'code-frame' }, code, copyCode),
    h('h3', { class: 'eyebrow' }, 'Submit on chain'),
    submit.element,
  )
  let drawn = ''
  return { element, show }

  function show(state: State): void {
    submit.show(state)
    for (const tab of tabs) {
      const isChosen = tab.textContent === language
      tab.setAttribute('aria-selected', String(isChosen))
      tab.tabIndex = isChosen ? 0 : -1
    }
    code.setAttribute('aria-labelledby', `code-${language}`)
    const text = textOf()
    if (text === drawn) return
    drawn = text
    replace(code, highlighted(text))
  }

  function textOf(): string {
    const { draft, response } = session.state
    return codeOf(language, draft, parts.api.baseUrl, response, chainOf(parts.issuer(), draft.chainId))
  }

  function choose(name: Language): void {
    language = name
    show(session.state)
  }
}
