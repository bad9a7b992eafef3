/** An editor for the signed bytes: changing any of them makes checks fail. */
import { h, replace } from '../dom.ts'

export interface ByteGroup {
  /** What these bytes encode. */
  readonly label: string
  /** Each byte as two hex digits. */
  readonly bytes: readonly string[]
}

const PER_ROW = 16

/**
 * Creates a grid of bytes. Arrow keys move the focus, two hex digits overwrite a byte, Enter or a click flips its lowest bit.
 *
 * @param changed receives the position of a changed byte and its new digits
 */
export function createByteEditor(changed: (group: number, index: number, digits: string) => void) {
  const element = h('div', { class: 'bytes' })
  let groups: readonly ByteGroup[] = []
  let original: readonly ByteGroup[] = []
  let typed = ''

  element.addEventListener('click', (event) => {
    const cell = (event.target as Element).closest<HTMLElement>('[data-byte]')
    if (cell !== null) flip(cell)
  })
  element.addEventListener('keydown', (event) => {
    const cell = (event.target as Element).closest<HTMLElement>('[data-byte]')
    if (cell === null) return
    const move = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -PER_ROW, ArrowDown: PER_ROW }[event.key]
    if (move !== undefined) {
      event.preventDefault()
      step(cell, move)
    } else if (/^[0-9a-fA-F]$/.test(event.key) && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      typed += event.key.toLowerCase()
      if (typed.length < 2) return
      write(cell, typed)
    }
  })

  function readPosition(cell: HTMLElement): [group: number, index: number] {
    const [group, index] = cell.dataset['byte']!.split('.').map(Number)
    return [group!, index!]
  }

  function flip(cell: HTMLElement): void {
    const [group, index] = readPosition(cell)
    const value = Number.parseInt(groups[group]!.bytes[index]!, 16) ^ 1
    write(cell, value.toString(16).padStart(2, '0'))
  }

  function write(cell: HTMLElement, digits: string): void {
    typed = ''
    const [group, index] = readPosition(cell)
    changed(group, index, digits)
  }

  function step(cell: HTMLElement, by: number): void {
    typed = ''
    const cells = [...element.querySelectorAll<HTMLElement>('[data-byte]')]
    const next = cells[cells.indexOf(cell) + by]
    if (next === undefined) return
    cell.tabIndex = -1
    next.tabIndex = 0
    next.focus()
  }

  function show(next: readonly ByteGroup[], untouched: readonly ByteGroup[]): void {
    groups = next
    original = untouched
    const focused = (document.activeElement as HTMLElement | null)?.dataset['byte']
    replace(
      element,
      groups.map(({ label, bytes }, group) =>
        h(
          'div',
          { class: 'byte-group', role: 'group', 'aria-label': label },
          h('span', { class: 'byte-label' }, label),
          h(
            'div',
            { class: 'byte-row' },
            bytes.map((digits, index) => cell(group, index, digits, focused)),
          ),
        ),
      ),
    )
    if (focused === undefined) return
    element.querySelector<HTMLElement>(`[data-byte="${focused}"]`)?.focus({ preventScroll: true })
  }

  function cell(group: number, index: number, digits: string, focused: string | undefined): HTMLElement {
    const key = `${group}.${index}`
    const isChanged = original[group]?.bytes[index] !== digits
    return h(
      'button',
      {
        type: 'button',
        class: `byte${digits === '00' ? ' zero' : ''}${isChanged ? ' changed' : ''}`,
        'data-byte': key,
        tabindex: key === (focused ?? '0.0') ? 0 : -1,
        'aria-label': `byte ${index + 1} of ${groups[group]!.label}: ${digits}${isChanged ? ', changed' : ''}`,
      },
      digits,
    )
  }

  return { element, show }
}

/** Splits `0x…` into bytes of two hex digits. */
export function bytesOf(hex: string): string[] {
  return hex.slice(2).match(/../g) ?? []
}

/** Splits attested data into its 32-byte words and labels each of them. */
export function wordsOfData(data: string): ByteGroup[] {
  const words = data.slice(2).match(/.{1,64}/g) ?? []
  const isNumeric = words.length > 4 && Number.parseInt(words[1]!.slice(-8), 16) === 160
  const head = isNumeric
    ? [
        'result',
        'where the units begin',
        'where the references begin',
        'time of computation',
        'where the operation begins',
      ]
    : ['result', 'where the references begin', 'time of computation', 'where the operation begins']
  const labels: string[] = [...head]
  const begin = (name: string) =>
    Number.parseInt(
      words[head.indexOf(`where the ${name} begin${name === 'operation' ? 's' : ''}`)]?.slice(-8) ?? '',
      16,
    ) / 32
  if (isNumeric) {
    labels[begin('units')] = 'length of the units'
    labels[begin('units') + 1] = 'units'
  }
  const references = begin('references')
  const count = Number.parseInt(words[references]?.slice(-8) ?? '', 16)
  labels[references] = 'number of references'
  for (let index = 0; index < Math.min(count, 2); index++)
    labels[references + 1 + index] = `reference of ${'AB'[index]}`
  labels[begin('operation')] = 'length of the operation'
  labels[begin('operation') + 1] = 'operation'
  return words.map((word, index) => ({ label: labels[index] ?? `word ${index + 1}`, bytes: word.match(/../g) ?? [] }))
}
