import type { StampResult } from '../../../src/types/generated.ts'
import { h } from '../dom.ts'
import { icon } from '../icons.ts'
import { type LabStamp, PLUGINS, type PluginName } from './evidence.ts'
import { createStampCard } from './stamp-card.ts'

export interface EvidenceListParts {
  change(id: number, patch: Partial<LabStamp>, isFinal: boolean): void
  remove(id: number): void
  add(plugin: PluginName): void
  addFile(file: File): void
}

/** The list of stamps, with controls to add more. */
export function createEvidenceList({ change, remove, add, addFile }: EvidenceListParts) {
  const list = h('ol', { class: 'stamps' })
  const plugin = h(
    'select',
    { class: 'select', id: 'plugin', 'aria-label': 'Kind of evidence' },
    PLUGINS.map((name) => h('option', { value: name }, name)),
  )
  const file = h('input', {
    type: 'file',
    accept: '.zip,.json',
    id: 'evidence-file',
    class: 'sr-only',
    onchange: () => readFile(),
  })
  const addButton = h(
    'button',
    { class: 'button', type: 'button', onclick: () => add(plugin.value as PluginName) },
    icon('plus'),
    'Add',
  )
  const element = h(
    'div',
    { class: 'panel' },
    h('h2', { class: 'eyebrow' }, 'Evidence'),
    list,
    h(
      'div',
      { class: 'row' },
      plugin,
      addButton,
      file,
      h('label', { class: 'button', for: 'evidence-file' }, 'From a file'),
    ),
    h(
      'p',
      { class: 'hint' },
      'Choose a ProofMode archive (.zip) or a stamp as JSON. This page reads the file and sends the stamp without changes.',
    ),
  )
  const cards = new Map<number, ReturnType<typeof createStampCard>>()
  return { element, show }

  /** @param results in the order of the stamps; undefined until the service has evaluated them */
  function show(stamps: readonly LabStamp[], results: readonly StampResult[] | undefined): void {
    for (const [id, card] of cards) {
      if (stamps.some((stamp) => stamp.id === id)) continue
      card.element.remove()
      cards.delete(id)
    }
    for (const [index, stamp] of stamps.entries()) {
      let card = cards.get(stamp.id)
      if (card === undefined) {
        const { id } = stamp
        card = createStampCard(
          id,
          (patch, isFinal) => change(id, patch, isFinal),
          () => remove(id),
        )
        cards.set(id, card)
        list.append(card.element)
      }
      card.show(stamp, results?.[index])
    }
  }

  function readFile(): void {
    const chosen = file.files?.[0]
    if (chosen !== undefined) addFile(chosen)
    file.value = '' // so that choosing the same file again fires the event
  }
}
