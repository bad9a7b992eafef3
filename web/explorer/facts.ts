import { copy, h } from './dom.ts'
import { shortHex } from './format.ts'
import { icon } from './icons.ts'

/** A row of a list of facts. */
export function fact(name: string, value: string | Node): Node[] {
  return [h('dt', {}, name), h('dd', {}, value)]
}

/** A long hex value in short, which copies itself. */
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
