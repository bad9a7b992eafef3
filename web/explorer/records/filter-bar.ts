import { clip, visibleText } from '../../../src/base/text.ts'
import { h, replace } from '../dom.ts'
import { icon } from '../icons.ts'
import { LIMITS, NO_FILTER, type RecordFilter } from './filter.ts'

/** The name may come from the address of the page, so anyone may have written it. */
const chainOption = (name: string) => h('option', { value: name, dir: 'auto' }, visibleText(clip(name, 40)))

/** @param inView returns the box that the map shows, in the form of the parameter `bbox` */
export function createFilterBar(changed: (patch: Partial<RecordFilter>) => void, inView: () => string) {
  const chain = h(
    'select',
    { class: 'select', id: 'filter-chain', onchange: () => changed({ chain: chain.value }) },
    h('option', { value: '' }, 'All chains'),
  )
  const day = (id: string, name: 'fromTimestamp' | 'toTimestamp') => {
    const input = h('input', { class: 'input', id, type: 'date', onchange: () => changed({ [name]: input.value }) })
    return input
  }
  const from = day('filter-from', 'fromTimestamp')
  const to = day('filter-to', 'toTimestamp')
  const prover = address('filter-prover', 'Attested by', 'prover')
  const subject = address('filter-subject', 'Subject', 'subject')
  const view = h('input', {
    type: 'checkbox',
    role: 'switch',
    id: 'filter-view',
    onchange: () => changed({ bbox: view.checked ? inView() : '' }),
  })
  const limit = h(
    'select',
    { class: 'select', id: 'filter-limit', onchange: () => changed({ limit: Number(limit.value) }) },
    LIMITS.map((count) => h('option', { value: count }, count)),
  )
  const clear = h(
    'button',
    { class: 'button quiet small', type: 'button', onclick: () => changed({ ...NO_FILTER }) },
    icon('cross'),
    'Clear',
  )
  const more = h(
    'details',
    { class: 'fold' },
    h('summary', {}, 'By address'),
    h('div', { class: 'filter-grid two' }, prover.element, subject.element),
  )
  const element = h(
    'form',
    { class: 'filters', 'aria-label': 'Filters', onsubmit: (event: Event) => event.preventDefault() },
    h(
      'div',
      { class: 'filter-grid' },
      h('div', { class: 'field' }, h('label', { for: 'filter-chain' }, 'Chain'), chain),
      h('div', { class: 'field' }, h('label', { for: 'filter-from' }, 'From'), from),
      h('div', { class: 'field' }, h('label', { for: 'filter-to' }, 'To'), to),
      h('div', { class: 'field' }, h('label', { for: 'filter-limit' }, 'Per page'), limit),
    ),
    h('div', { class: 'row between' }, h('label', { class: 'switch' }, view, 'Only what the map shows'), clear),
    more,
  )
  return { element, show, showChains }

  function showChains(names: readonly string[]): void {
    const chosen = chain.value
    replace(chain, h('option', { value: '' }, 'All chains'), names.map(chainOption))
    choose(chosen)
  }

  /** Chooses a chain. One that is not in the list joins it, because the address of the page may name any. */
  function choose(name: string): void {
    if ([...chain.options].every(({ value }) => value !== name)) chain.append(chainOption(name))
    chain.value = name
  }

  function show(filter: RecordFilter): void {
    choose(filter.chain)
    from.value = filter.fromTimestamp.slice(0, 10)
    to.value = filter.toTimestamp.slice(0, 10)
    prover.show(filter.prover)
    subject.show(filter.subject)
    view.checked = filter.bbox !== ''
    if (!LIMITS.includes(filter.limit) && [...limit.options].every(({ value }) => value !== String(filter.limit))) {
      limit.append(h('option', { value: filter.limit }, filter.limit))
    }
    limit.value = String(filter.limit)
    if (filter.prover !== '' || filter.subject !== '') more.open = true
    const { uid: _, limit: __, offset: ___, ...conditions } = filter
    clear.hidden = Object.values(conditions).every((value) => value === '')
  }

  /** Creates an address field. It applies on `change`, not while typing, because the API rejects half an address. */
  function address(id: string, label: string, name: 'prover' | 'subject') {
    const input = h('input', {
      class: 'input mono',
      id,
      spellcheck: 'false',
      placeholder: '0x…',
      onchange: () => changed({ [name]: input.value.trim() }),
    })
    return {
      element: h('div', { class: 'field' }, h('label', { for: id }, label), input),
      show: (text: string) => {
        if (document.activeElement !== input) input.value = text
      },
    }
  }
}
