import { copy, h } from './dom.ts'
import { shortHex } from './format.ts'
import { icon } from './icons.ts'

/** One row of a list of facts: a term and its value. */
export function fact(name: string, value: string | Node): Node[] {
  return [h('dt', {}, name), h('dd', {}, value)]
}

/** A button that shows a shortened hex value and copies the full one. */
export function hexButton(hex: string, what: string): HTMLElement {
  return h(
    'button',
    {
      class: 'hex',
      type: 'button',
      title: `Copy ${hex}`,
      onclick: () => void copy(hex, what),
    },
    h('span', { class: 'sr-only' }, `Copy: ${what}, `),
    h('code', {}, shortHex(hex, 10, 6)),
    icon('copy'),
  )
}
