/** Creates and updates DOM elements without a framework. */
import { clip, visibleText } from '../../src/base/text.ts'

export type Child = Node | string | number | undefined | null | false | readonly Child[]

type Listener = (event: never) => void

/**
 * Attributes by name. `on…` adds a listener; `value` and `checked` set properties; true sets an empty attribute; false and
 * undefined set nothing.
 */
export type Attributes = Readonly<Record<string, string | number | boolean | Listener | undefined>>

export function h<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(name)
  setAttributes(element, attributes)
  append(element, children)
  return element
}

export function setAttributes(element: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'function') element.addEventListener(name.slice(2), value as unknown as EventListener)
    else if (name === 'value' || name === 'checked') (element as unknown as Record<string, unknown>)[name] = value
    else if (value === true) element.setAttribute(name, '')
    else if (value !== false && value !== undefined) element.setAttribute(name, String(value))
  }
}

function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue
    if (Array.isArray(child)) append(element, child)
    else element.append(child instanceof Node ? child : String(child))
  }
}

/** Replaces all children. If the focused element has a `data-key`, the new element with the same key gets the focus. */
export function replace(element: Element, ...children: Child[]): void {
  const active = document.activeElement
  const key = active !== null && element.contains(active) ? active.getAttribute('data-key') : null
  element.replaceChildren()
  append(element, children)
  if (key !== null)
    element.querySelector<HTMLElement>(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true })
}

/** Creates an SVG element. The markup is parsed as HTML, so it must never contain data from outside this source. */
export function svg(markup: string, className: string): SVGElement {
  const template = document.createElement('template')
  template.innerHTML = `<svg xmlns="http://www.w3.org/2000/svg" class="${className}" aria-hidden="true">${markup}</svg>`
  return template.content.firstElementChild as SVGElement
}

/** Announces a text to screen readers without moving the focus. */
export function announce(text: string): void {
  const region = document.getElementById('announcer')
  if (region !== null) region.textContent = text
}

/** Shows a short message at the bottom of the window and announces it. */
export function toast(text: string): void {
  document.querySelector('.toast')?.remove()
  const element = h('div', { class: 'toast' }, visibleText(clip(text, MAX_TOAST)))
  document.body.append(element)
  announce(element.textContent ?? '')
  setTimeout(() => element.remove(), TOAST_MS)
}

const TOAST_MS = 2400
const MAX_TOAST = 200

/** Copies text to the clipboard and shows whether that worked. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    toast(`${what} copied`)
  } catch {
    toast('This browser does not allow copying. Select the text instead.')
  }
}
/** Saves text as a file. */
export function download(name: string, text: string, type = 'application/json'): void {
  saveBlob(name, new Blob([text], { type }))
}

export function saveBlob(name: string, blob: Blob): void {
  const address = URL.createObjectURL(blob)
  const link = h('a', { href: address, download: name })
  link.click()
  URL.revokeObjectURL(address)
}
