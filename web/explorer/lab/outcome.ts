import { verifyResult } from '../../../src/client/client.ts'
import type { VerifyProofResponse } from '../../../src/types/generated.ts'
import type { Api } from '../api.ts'
import { download, h, replace } from '../dom.ts'
import { shortHex, timeUtc } from '../format.ts'
import { icon } from '../icons.ts'
import { openReceipt } from '../receipt/open.ts'

/** The chain that the lab requests signatures for. */
export const CHAIN_ID = 84532

/** The panel of the signed outcome: the signature, which this page verifies, and downloads. */
export function createOutcome(api: Api, changed: () => void, saveProof: () => void) {
  const isSigned = h('input', { type: 'checkbox', role: 'switch', id: 'sign-proof', checked: true, onchange: changed })
  const signature = h('div', { class: 'stack' })
  const save = h(
    'button',
    { class: 'button', type: 'button', onclick: () => saveResponse() },
    icon('down'),
    'Download the response',
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
  let response: VerifyProofResponse | undefined
  return { element, show, wantsSignature: () => isSigned.checked }

  function show(next: VerifyProofResponse | undefined): void {
    save.disabled = next === undefined
    if (next === response) return
    response = next
    if (next !== undefined) void check(next)
  }

  async function check(checked: VerifyProofResponse): Promise<void> {
    if (checked.attestation === undefined) {
      replace(signature, h('p', { class: 'hint' }, 'Evaluated, but not signed.'))
      return
    }
    const verdict = await verifyResult(checked, { chainId: CHAIN_ID, issuer: await api.issuer() })
    if (checked !== response) return
    const wrong = verdict.checks.find(({ status }) => status === 'fail')
    const text = verdict.ok ? 'Signed, and verified in your browser' : `Verification failed: ${wrong?.detail}`
    const signer = shortHex(verdict.signer ?? '')
    replace(
      signature,
      h(
        'p',
        {},
        h('span', { class: `tag ${verdict.ok ? 'good' : 'bad'}` }, icon(verdict.ok ? 'check' : 'cross'), text),
      ),
      h(
        'p',
        { class: 'hint' },
        `Statement: ${verdict.statement ?? ''}. Signed by ${signer}, evaluated ${timeUtc(checked.evaluatedAt)}. ` +
          'The signature shows who evaluated the proof, not that the evidence is good. Read the numbers.',
      ),
      verdict.ok &&
        h(
          'div',
          { class: 'row' },
          h(
            'button',
            { class: 'button', type: 'button', onclick: () => void openReceipt(checked) },
            icon('share'),
            'Receipt',
          ),
        ),
    )
  }

  function saveResponse(): void {
    if (response !== undefined) download('verified-proof.json', JSON.stringify(response, null, 2))
  }
}
