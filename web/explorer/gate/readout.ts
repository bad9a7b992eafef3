import { h, replace } from '../dom.ts'
import { clockUtc, shortHex, whole } from '../format.ts'
import { icon } from '../icons.ts'
import type { Admission } from './chain.ts'

interface GateState {
  readonly gate: string | undefined
  /** Whether the contract was read. */
  readonly isChecked: boolean
  /** Whether the page cannot use the contract. */
  readonly isUnusable: boolean
  readonly admission: Admission | undefined
  /** Name of the contract's error, if the last result was rejected. */
  readonly rejection: string | undefined
  readonly person: string | undefined
  readonly gas: { readonly deploy?: number; readonly call?: number }
}

/** Whether the gate is open, in large type, as the contract itself says. */
export function createReadout() {
  const tags = h('div', { class: 'row status' })
  const figure = h('p', { class: 'figure' })
  const sentence = h('p', { class: 'sentence' })
  const element = h('section', { class: 'readout', 'aria-label': 'State of the gate' }, tags, figure, sentence)
  return { element, show }

  function show({ gate, isChecked, isUnusable, admission, rejection, person, gas }: GateState): void {
    const isOpen = admission?.isOpen === true
    element.dataset['verdict'] = isOpen ? 'good' : 'none'
    const tag = isOpen
      ? h('span', { class: 'tag good' }, icon('check'), 'The contract admits you')
      : h(
          'span',
          { class: 'tag' },
          gate === undefined
            ? 'Not deployed'
            : isUnusable
              ? 'Not usable'
              : isChecked
                ? 'The contract does not admit you'
                : 'Not read yet',
        )
    const costs = [
      gas.deploy !== undefined && `deployment ${whole(gas.deploy)} gas`,
      gas.call !== undefined && `call ${whole(gas.call)} gas`,
    ].filter(Boolean)
    replace(tags, tag, costs.length > 0 && h('span', { class: 'tag' }, costs.join(', ')))
    const value = gate === undefined ? 'No gate yet' : admission === undefined ? 'Unknown' : isOpen ? 'Open' : 'Closed'
    replace(figure, h('span', { class: 'value' }, value))
    sentence.textContent = isUnusable
      ? 'The page cannot use this contract, and asks it nothing. The message on the page says why.'
      : wordsFor(gate, admission, rejection, person)
  }
}

function wordsFor(
  gate: string | undefined,
  admission: Admission | undefined,
  rejection: string | undefined,
  person: string | undefined,
): string {
  if (gate === undefined) return 'Draw a zone, connect a wallet, and deploy the contract.'
  if (admission === undefined || person === undefined)
    return 'Connect a wallet on the chain of the gate to read the contract.'
  const rejected = rejection === undefined ? '' : `It rejected the last result with ${rejection}. `
  if (!admission.isOpen) return `${rejected}The gate at ${shortHex(gate)} is closed for ${shortHex(person)}.`
  const earlier = rejection === undefined ? '' : 'An earlier result still counts. '
  return `${rejected}${earlier}The gate at ${shortHex(gate)} is open for ${shortHex(person)} until ${clockUtc(admission.untilSeconds)}.`
}
