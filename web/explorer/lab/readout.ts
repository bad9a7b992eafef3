import type { VerifyProofResponse } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { icon } from '../icons.ts'

/** The number of stamps that support the claim, in large type; the service counts them. */
export function createLabReadout() {
  const figure = h('p', { class: 'figure numeric' })
  const sentence = h('p', { class: 'sentence' })
  const tags = h('div', { class: 'row status' })
  const element = h('section', { class: 'readout', 'aria-label': 'Verdict' }, tags, figure, sentence)
  return { element, show, showNone, words: () => `${figure.textContent}. ${sentence.textContent}` }

  /** Shows that there is no verdict on the evidence as it is now. */
  function showNone(): void {
    replace(figure, h('span', { class: 'value' }, '–'))
    sentence.textContent = 'There is no verdict on this evidence.'
  }

  function show(count: number, response: VerifyProofResponse | undefined): void {
    if (response === undefined) {
      replace(tags, h('span', { class: 'tag' }, count === 0 ? 'No evidence' : 'Not evaluated yet'))
      element.dataset['verdict'] = 'none'
      return
    }
    const { supportingStamps, supportingSigners, mockStamps, duplicateStamps } = response.credibility.extensions
    const isGood = supportingStamps === count
    const notes = [
      supportingSigners === 1 ? 'signed with one key' : `signed with ${supportingSigners} keys`,
      mockStamps > 0 && `${mockStamps} from the mock plugin`,
      duplicateStamps > 0 && `duplicates: ${duplicateStamps}`,
    ]
    element.dataset['verdict'] = isGood ? 'good' : 'bad'
    replace(
      figure,
      h('span', { class: 'value' }, supportingStamps),
      h('span', { class: 'unit' }, ` of ${count} support the claim`),
    )
    sentence.textContent = `Valid, within the radius and overlapping in time; ${notes.filter(Boolean).join(', ')}.`
    const words = isGood ? 'All stamps support it' : 'Not all stamps support it'
    replace(tags, h('span', { class: `tag ${isGood ? 'good' : 'bad'}` }, icon(isGood ? 'check' : 'cross'), words))
  }
}
