import type { VerifyProofResponse } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { icon } from '../icons.ts'

/** How many stamps support the claim, large: counted by the service. */
export function createLabReadout() {
  const figure = h('p', { class: 'figure numeric' })
  const sentence = h('p', { class: 'sentence' })
  const tags = h('div', { class: 'row status' })
  const element = h('section', { class: 'readout', 'aria-label': 'Verdict' }, tags, figure, sentence)
  return { element, show, words: () => `${figure.textContent}. ${sentence.textContent}` }

  function show(count: number, answer: VerifyProofResponse | undefined): void {
    if (answer === undefined) {
      replace(tags, h('span', { class: 'tag' }, count === 0 ? 'No evidence' : 'Not judged yet'))
      element.dataset['verdict'] = 'none'
      return
    }
    const { supportingStamps, supportingSigners, mockStamps, duplicateStamps } = answer.credibility.extensions
    const isGood = supportingStamps === count
    const notes = [
      supportingSigners === 1 ? 'one key stands behind them' : `${supportingSigners} keys stand behind them`,
      mockStamps > 0 && `${mockStamps} made up`,
      duplicateStamps > 0 && `${duplicateStamps} twice`,
    ]
    element.dataset['verdict'] = isGood ? 'good' : 'bad'
    replace(
      figure,
      h('span', { class: 'value' }, supportingStamps),
      h('span', { class: 'unit' }, ` of ${count} support the claim`),
    )
    sentence.textContent = `Valid in every way, within the radius and in time; ${notes.filter(Boolean).join(', ')}.`
    const words = isGood ? 'All of it holds' : 'Not all of it holds'
    replace(tags, h('span', { class: `tag ${isGood ? 'good' : 'bad'}` }, icon(isGood ? 'check' : 'cross'), words))
  }
}
