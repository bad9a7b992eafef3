import { verifyResult } from '../../../src/client/client.ts'
import type { VerifyProofResponse } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { download, h, replace } from '../dom.ts'
import { shortHex, timeUtc } from '../format.ts'
import { icon } from '../icons.ts'

/** The chain that outcomes are signed for here. */
export const CHAIN_ID = 84532

/** The signature below the verdict, checked in this page, and what can be taken home. */
export function createOutcome(api: Api, changed: () => void, saveProof: () => void) {
  const isSigned = h('input', { type: 'checkbox', role: 'switch', id: 'sign-proof', checked: true, onchange: changed })
  const signature = h('div', { class: 'stack' })
  const save = h(
    'button',
    { class: 'button', type: 'button', onclick: () => saveAnswer() },
    icon('down'),
    'Download the answer',
  )
  const element = h(
    'div',
    { class: 'panel' },
    h('h2', { class: 'eyebrow' }, 'Signed outcome'),
    h('label', { class: 'switch' }, isSigned, 'Sign it for base-sepolia'),
    signature,
    h(
      'div',
      { class: 'row' },
      save,
      h('button', { class: 'button', type: 'button', onclick: saveProof }, icon('down'), 'Download the proof'),
    ),
  )
  let answer: VerifyProofResponse | undefined
  return { element, show, wantsSignature: () => isSigned.checked }

  function show(next: VerifyProofResponse | undefined): void {
    save.disabled = next === undefined
    if (next === answer) return
    answer = next
    if (next !== undefined) void check(next)
  }

  async function check(found: VerifyProofResponse): Promise<void> {
    if (found.attestation === undefined) {
      replace(signature, h('p', { class: 'hint' }, 'Judged and not signed.'))
      return
    }
    const verdict = await verifyResult(found, { chainId: CHAIN_ID, issuer: await api.issuer() })
    if (found !== answer) return
    const wrong = verdict.checks.find(({ status }) => status === 'fail')
    const words = verdict.ok ? 'Signed, and verified in your browser' : `Does not hold: ${wrong?.detail}`
    const signer = shortHex(verdict.signer ?? '')
    replace(
      signature,
      h('p', { class: `tag ${verdict.ok ? 'good' : 'bad'}` }, icon(verdict.ok ? 'check' : 'cross'), words),
      h(
        'p',
        { class: 'hint' },
        `It says: ${verdict.statement ?? ''}. By ${signer}, as of ${timeUtc(found.evaluatedAt)}. ` +
          'A signature on a verdict does not make it a good one: read the numbers.',
      ),
    )
  }

  function saveAnswer(): void {
    if (answer !== undefined) download('verified-proof.json', JSON.stringify(answer, null, 2))
  }
}
