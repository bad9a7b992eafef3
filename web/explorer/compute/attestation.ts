/** Shows what was signed: the statement, every check, the signed bytes, the nonce and the deadline. */
import type { Issuer, IssuerChain } from '../../../src/client/answers.ts'
import type { Check } from '../../../src/client/client.ts'
import { noteText } from '../../../src/compute/response-text.ts'
import type { ComputeResponse } from '../../../src/types/generated.ts'
import { h, replace } from '../dom.ts'
import { fact, foreignText, hexButton } from '../facts.ts'
import { duration, shortHex, timeUtc } from '../format.ts'
import { icon } from '../icons.ts'
import { openReceipt } from '../receipt/open.ts'
import { bytesOf, createByteEditor, wordsOfData } from './byte-editor.ts'
import { measureOf, sentenceOf } from './readout.ts'
import { inputsOf } from './request-draft.ts'
import type { Session, State } from './session.ts'

/** Longest text of a check. It may have text of whoever made the answer. */
const MAX_DETAIL = 1000
const NONCE_WORDS: Readonly<Record<string, string>> = {
  chain: 'read from the chain for this response',
  cache: 'last value read from the chain, which does not respond at the moment',
  default: 'the default, because no RPC endpoint is set for this chain',
}

export interface AttestationPanel {
  readonly element: HTMLElement
  show(state: State): void
  /** Stops the countdown. */
  close(): void
}

export function createAttestationPanel(session: Session, issuer: () => Issuer | undefined): AttestationPanel {
  const title = h('h2', { class: 'eyebrow' }, 'Attestation')
  const verdictLine = h('div', { class: 'verdict' })
  const facts = h('dl', { class: 'facts' })
  const checks = h('ul', { class: 'checks' })
  const checksFold = h(
    'details',
    { class: 'fold' },
    h('summary', {}, 'Every check', h('span', { class: 'tail' })),
    checks,
  )
  const editor = createByteEditor((group, index, digits) => alter(group, index, digits))
  const restore = h(
    'button',
    { class: 'button small', type: 'button', onclick: () => session.alter(undefined) },
    icon('undo'),
    'Restore',
  )
  const bytesFold = h(
    'details',
    { class: 'fold', id: 'bytes-fold' },
    h('summary', {}, 'Break a byte', h('span', { class: 'tail' }, 'and watch the signature')),
    h(
      'div',
      { class: 'row between' },
      h('p', { class: 'hint' }, 'Click a byte to flip one bit, or type two hex digits.'),
      restore,
    ),
    editor.element,
  )
  const raw = h('pre', { class: 'code-block', tabindex: 0, role: 'region', 'aria-label': 'The response as JSON' })
  const rawFold = h('details', { class: 'fold' }, h('summary', {}, 'Full response'), raw)
  const deadlineText = h('span', { class: 'numeric' })
  const resignButton = h(
    'button',
    { class: 'button small', type: 'button', onclick: () => void session.resign() },
    'Sign again',
  )
  const deadline = h('dd', {}, deadlineText, ' ', resignButton)
  const receipt = h(
    'button',
    { class: 'button', type: 'button', id: 'receipt', onclick: () => void makeReceipt() },
    icon('share'),
    'Receipt',
  )
  const body = h(
    'div',
    { class: 'stack' },
    verdictLine,
    facts,
    h(
      'div',
      { class: 'row' },
      receipt,
      h('span', { class: 'hint' }, 'An address that carries the result and its inputs, for anyone to check.'),
    ),
    h('div', { class: 'folds' }, checksFold, bytesFold, rawFold),
  )
  const empty = h('p', { class: 'hint' }, 'Nothing is signed yet.')
  const element = h('section', { class: 'panel attestation', 'aria-label': 'Attestation' }, title, empty, body)
  let shown: ComputeResponse | undefined

  const clock = setInterval(showDeadline, 1000)
  rawFold.addEventListener('toggle', () => showRaw())
  bytesFold.addEventListener('toggle', () => showBytes())
  return { element, show, close: () => clearInterval(clock) }

  function show(state: State): void {
    const response = state.altered ?? state.response
    empty.hidden = response !== undefined
    body.hidden = response === undefined
    if (response === undefined) {
      shown = undefined
      return
    }
    shown = response
    showVerdict(state)
    showFacts(state, response)
    showRaw()
    showBytes()
  }

  function showVerdict({ verdict, altered }: State): void {
    element.dataset['verdict'] = verdict === undefined ? 'none' : verdict.ok ? 'good' : 'bad'
    receipt.disabled = verdict?.ok !== true
    restore.disabled = altered === undefined
    if (verdict === undefined) {
      replace(verdictLine, h('p', {}, 'Recovering the signer …'))
      replace(checks)
      return
    }
    const failed = verdict.checks.filter(({ status }) => status === 'fail')
    const attester = issuer()?.address
    replace(
      verdictLine,
      icon(verdict.ok ? 'check' : 'cross'),
      verdict.ok
        ? h(
            'p',
            {},
            h('strong', {}, 'The signature holds. '),
            'Recovered here: ',
            h('code', {}, shortHex(verdict.signer ?? '')),
            verdict.signer === attester ? ', the attester of this service.' : '.',
          )
        : h('p', {}, h('strong', {}, 'The signature does not hold. '), failed[0]?.detail ?? 'No signer was recovered.'),
    )
    const passed = verdict.checks.filter(({ status }) => status === 'pass').length
    checksFold.querySelector('.tail')!.textContent =
      failed.length > 0 ? `${failed.length} failed, ${passed} hold` : `${passed} hold`
    replace(checks, verdict.checks.map(checkLine))
  }

  function showFacts({ draft, nonceSource }: State, response: ComputeResponse): void {
    const { attestation, delegatedAttestation, result, timestamp, inputRefs, inputSalts, notes } = response
    const chain = chainOf(issuer(), draft.chainId)
    const statement =
      typeof result === 'number'
        ? `${measureOf(draft, result).value} ${measureOf(draft, result).unit} ${sentenceOf(draft, result)}`
        : sentenceOf(draft, result)
    const isForAnyone = /^0x0{40}$/.test(attestation.recipient)
    const source = NONCE_WORDS[nonceSource ?? ''] ?? ''
    replace(
      facts,
      fact('Statement', statement),
      (notes ?? []).map((note) => fact('Note', noteText(note))),
      fact('Computed', timeUtc(timestamp)),
      inputRefs.map((ref, index) => fact(`Input ${'AB'[index]}`, hexButton(ref, `The reference of ${'AB'[index]}`))),
      (inputSalts ?? []).map(
        (salt, index) => salt !== null && fact(`Salt of ${'AB'[index]}`, hexButton(salt, `The salt of ${'AB'[index]}`)),
      ),
      fact('Recipient', isForAnyone ? 'anyone' : hexButton(attestation.recipient, 'The recipient')),
      fact(
        'Chain',
        chain === undefined
          ? String(draft.chainId)
          : `${chain.name} (${draft.chainId}), EAS ${chain.easVersion} at ${shortHex(chain.registry)}`,
      ),
      fact('Schema', hexButton(attestation.schema, 'The schema')),
      fact('Nonce', `${delegatedAttestation.nonce}, ${source}`),
      h('dt', {}, 'Submit by'),
      deadline,
    )
    showDeadline()
  }

  function showDeadline(): void {
    if (shown === undefined) return
    const left = shown.delegatedAttestation.deadline - Date.now() / 1000
    const until = timeUtc(shown.delegatedAttestation.deadline)
    deadlineText.textContent = left > 0 ? `${until}, in ${duration(left)}` : `${until}: expired`
  }

  function showRaw(): void {
    if (rawFold.open && shown !== undefined) raw.textContent = JSON.stringify(shown, null, 2)
  }

  async function makeReceipt(): Promise<void> {
    const { response, draft } = session.state
    if (response !== undefined) await openReceipt(response, draft.isPrivate === true ? undefined : inputsOf(draft))
  }

  function groupsOf(response: ComputeResponse) {
    return [
      ...wordsOfData(response.attestation.data),
      { label: 'signature: r, s, v', bytes: bytesOf(response.delegatedAttestation.signature) },
    ]
  }

  function showBytes(): void {
    const { response, altered } = session.state
    if (bytesFold.open && response !== undefined) editor.show(groupsOf(altered ?? response), groupsOf(response))
  }

  /** Changes one byte. The response contains the signature in two members; both get the same change. */
  function alter(group: number, index: number, digits: string): void {
    if (shown === undefined) return
    const groups = groupsOf(shown).map(({ bytes }) => [...bytes])
    groups[group]![index] = digits
    const signature = `0x${groups.at(-1)!.join('')}`
    const data = `0x${groups.slice(0, -1).flat().join('')}`
    const { response } = session.state
    const isUnchanged = data === response?.attestation.data && signature === response.delegatedAttestation.signature
    if (isUnchanged) session.alter(undefined)
    else {
      session.alter({
        ...shown,
        attestation: { ...shown.attestation, data, signature },
        delegatedAttestation: { ...shown.delegatedAttestation, signature },
      })
    }
  }
}

export function chainOf(issuer: Issuer | undefined, chainId: number): IssuerChain | undefined {
  return issuer?.chains.find((chain) => chain.chainId === chainId)
}

/** One check as a list item with its icon and outcome. */
export function checkLine({ id, status, detail }: Check): HTMLElement {
  const sign = status === 'pass' ? 'check' : status === 'fail' ? 'cross' : 'skip'
  const word = status === 'pass' ? 'holds' : status === 'fail' ? 'fails' : 'not checked'
  return h(
    'li',
    { class: `check ${status}` },
    icon(sign),
    h('span', { class: 'check-name' }, id, h('span', { class: 'sr-only' }, ` ${word}`)),
    h('span', { class: 'check-detail' }, foreignText(detail, MAX_DETAIL)),
  )
}
