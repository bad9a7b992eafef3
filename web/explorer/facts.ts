import { clip, visibleText } from '../../src/base/text.ts'
import { type Child, copy, h } from './dom.ts'
import { shortHex, whole } from './format.ts'
import { icon } from './icons.ts'

/** One row of a list of facts: a term and its value. */
export function fact(name: string, value: Child): Node[] {
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

/**
 * Shows a text that anyone may have written, cut to one length. Its direction does not affect the text around it, and characters
 * that cannot be seen are written as escapes.
 */
export function foreignText(text: string, length: number): HTMLElement {
  return h('bdi', { class: 'foreign' }, visibleText(clip(text, length)))
}

/** Shows the same with a button for the whole text, if it is cut. @param what names the text, as in `Memo` */
export function foldedText(text: string, length: number, what: string): HTMLElement {
  const holder = h('div', { class: 'folded' }, foreignText(text, length))
  if (text.length <= length) return holder
  const showAll = () => {
    const block = wholeText(text, what)
    holder.replaceChildren(block)
    block.focus()
  }
  const words = `Show all ${whole(text.length)} characters`
  holder.append(h('button', { class: 'button small', type: 'button', onclick: showAll }, words))
  return holder
}

function wholeText(text: string, what: string): HTMLElement {
  return h(
    'pre',
    { class: 'code-block whole', dir: 'auto', tabindex: 0, role: 'region', 'aria-label': what },
    visibleText(text),
  )
}
