/** The page `/verify`: checks the receipt in the fragment of the address. All of it happens in the browser. */
import { clip, visibleText } from '../../../src/base/text.ts'
import {
  type Receipt,
  ReceiptError,
  type ReceiptVerdict,
  readReceipt,
  type Verdict,
  verifyReceipt,
} from '../../../src/client/client.ts'
import { checkLine } from '../compute/attestation.ts'
import { announce, copy, h, replace } from '../dom.ts'
import { fact, foreignText, hexButton } from '../facts.ts'
import { degreesText } from '../format.ts'
import { boxOf, vertexCount, wrapped } from '../geo/shape.ts'
import { icon } from '../icons.ts'
import type { Engine } from '../kernel.ts'
import type { BaseMap, Scene } from '../map/base-map.ts'
import type { Page, PageParts } from '../page.ts'
import { injectedWallet } from '../wallets.ts'
import { askWallet } from './chain-state.ts'
import { qrCode } from './qr.ts'
import { drawInputs, extentOf, RECEIPT_SCENE } from './scene.ts'
import { hiddenText, operationOf, type ShownInput, shownInputs } from './shown-inputs.ts'

const MAX_STATEMENT = 600
const MAX_RAW = 20_000
/** More vertices would make the map slow. */
const MAX_DRAWN_VERTICES = 50_000
const LETTERS = ['A', 'B'] as const
const ADDRESS = /^0x[0-9a-fA-F]{40}$/

export function createReceiptPage({ engine: loading, takeMap, issuer }: PageParts): Page {
  const mapSlot = h('div', { class: 'map-slot' })
  const caption = h('section', { class: 'readout receipt-caption', 'aria-label': 'What the map shows' })
  const verdictLine = h('div', { class: 'verdict', role: 'status' })
  const facts = h('dl', { class: 'facts' })
  const checks = h('ul', { class: 'checks' })
  const chainState = h('div', { class: 'stack' })
  const code = h('div', { class: 'qr-slot' })
  const raw = h('pre', { class: 'code-block', tabindex: 0, role: 'region', 'aria-label': 'The receipt as JSON' })
  const pasted = h('input', { class: 'input mono', id: 'receipt-address', autocomplete: 'off', spellcheck: 'false' })
  const trusted = h('input', {
    class: 'input mono',
    id: 'trusted-issuer',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: '0x…',
    'aria-describedby': 'trusted-hint',
    oninput: () => void check(),
  })
  const trustedHint = h('p', { class: 'hint', id: 'trusted-hint' })
  const body = h(
    'div',
    { class: 'receipt-body', hidden: true },
    h('div', { class: 'panel' }, h('h2', { class: 'eyebrow' }, 'What it says'), facts),
    h('div', { class: 'panel screen-only' }, field('Address of an issuer that you trust', trusted), trustedHint),
    h('div', { class: 'panel' }, h('h2', { class: 'eyebrow' }, 'State of the chain'), chainState),
    h('div', { class: 'panel' }, h('h2', { class: 'eyebrow' }, 'Every check'), checks),
    h('div', { class: 'panel receipt-code' }, h('h2', { class: 'eyebrow' }, 'The receipt'), code),
    h(
      'div',
      { class: 'panel screen-only' },
      h(
        'div',
        { class: 'row' },
        h(
          'button',
          { class: 'button', type: 'button', onclick: () => void copy(location.href, 'Address') },
          icon('copy'),
          'Copy the address',
        ),
        h('button', { class: 'button', type: 'button', onclick: () => print() }, 'Print'),
      ),
      h('details', { class: 'fold' }, h('summary', {}, 'As JSON, with what is not signed'), raw),
    ),
  )
  const rail = h(
    'div',
    { class: 'rail' },
    h(
      'div',
      { class: 'rail-head' },
      h('h1', { class: 'page-title' }, 'Receipt'),
      h(
        'p',
        { class: 'lead screen-only' },
        'Your browser checks the receipt. The receipt is the part of the address after #, which browsers do not send to servers.',
      ),
    ),
    h('div', { class: 'panel plain' }, verdictLine),
    body,
    h(
      'form',
      {
        class: 'panel screen-only',
        onsubmit: (event: SubmitEvent) => {
          event.preventDefault()
          openAnother(pasted.value)
        },
      },
      field('Address of a receipt', pasted),
      h('div', { class: 'row' }, h('button', { class: 'button', type: 'submit' }, 'Check')),
    ),
  )
  const stage = h('div', { class: 'stage' }, mapSlot, caption)
  const element = h('div', { class: 'compute receipt', role: 'region', 'aria-label': 'Receipt' }, stage, rail)

  let receipt: Receipt | undefined
  let shown: ShownInput[] = []
  let verdict: ReceiptVerdict | undefined
  let engine: Engine | undefined
  let base: BaseMap | undefined
  let scene: Scene | undefined
  let isShown = false
  let reads = 0
  let runs = 0

  loading.then(
    (loaded) => {
      engine = loaded
      if (isShown) void check().then(draw)
    },
    () => {}, // the check `recomputed` is then missing, and the map stays empty
  )
  document.addEventListener('issuer', () => isShown && void check())

  return {
    element,
    enter() {
      isShown = true
      takeMap(mapSlot).then(useMap, () => {}) // the slot shows that the map failed
      // A link within the page, such as "Skip to the content", is no other receipt.
      if (location.hash !== '#main' || receipt === undefined) void open(location.href)
    },
    leave() {
      isShown = false
    },
  }

  function openAnother(address: string): void {
    const start = address.indexOf('#r=')
    if (start < 0) showVerdict('none', 'cross', 'No receipt.', 'The address of a receipt has #r= in it.')
    else if (address.slice(start).trim() === location.hash) void open(location.href)
    else location.hash = address.slice(start).trim()
  }

  async function open(address: string): Promise<void> {
    const read = ++reads
    receipt = undefined
    verdict = undefined
    shown = []
    body.hidden = true
    for (const part of [facts, chainState, checks, code, raw, caption]) replace(part)
    caption.hidden = true
    draw()
    if (!address.includes('#r=')) {
      showVerdict('none', 'skip', 'No receipt.', 'Open the address of a receipt, or paste it below.')
      return
    }
    showVerdict('none', 'skip', 'Checking …', '')
    try {
      const opened = await readReceipt(address)
      if (read !== reads) return
      receipt = opened
    } catch (error) {
      if (read !== reads) return
      if (error instanceof ReceiptError)
        showVerdict('bad', 'cross', 'This receipt cannot be read.', `${sentence(error.message)}.`)
      else showFailure(error)
      return
    }
    shown = shownInputs(receipt.inputs ?? [], receipt.response).filter(
      ({ geometry }) => vertexCount(geometry) <= MAX_DRAWN_VERTICES,
    )
    await check()
    draw()
  }

  async function check(): Promise<void> {
    if (receipt === undefined) return
    const run = ++runs
    const checked = receipt
    const own = issuer()
    const typed = trusted.value.trim()
    const isAddress = ADDRESS.test(typed)
    const isWrong = typed !== '' && !isAddress
    if (isWrong) trusted.setAttribute('aria-invalid', 'true')
    else trusted.removeAttribute('aria-invalid')
    trustedHint.textContent = isWrong
      ? 'An address is 0x and 40 hex digits.'
      : 'The address in a receipt is only a claim. Get the address of an issuer from a source that you trust.'
    const attester = [...(own === undefined ? [] : [own.address, ...own.retired]), ...(isAddress ? [typed] : [])]
    let made: ReceiptVerdict
    try {
      made = await verifyReceipt(checked, { issuer: own, attester, recompute: engine?.recompute })
    } catch (error) {
      if (run === runs && checked === receipt) showFailure(error)
      return
    }
    if (run !== runs || checked !== receipt) return
    verdict = made
    showResult(checked, made, typed)
  }

  /** Shows that the page could not do the checks, which says nothing about the receipt. */
  function showFailure(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    body.hidden = true
    showVerdict('none', 'skip', 'Not checked.', `The page could not check the receipt: ${reason}.`)
    verdictLine.append(
      h('button', { class: 'button', type: 'button', onclick: () => void open(location.href) }, 'Try again'),
    )
  }

  function showResult(checked: Receipt, made: ReceiptVerdict, typed: string): void {
    const failed = made.checks.find(({ id, status }) => status === 'fail' && id !== 'signer')
    if (made.status === 'valid') {
      const isTyped = made.signer?.toLowerCase() === typed.toLowerCase()
      const who = isTyped ? 'the issuer that you typed' : 'the attester of this service'
      showVerdict('good', 'check', 'Valid.', `Signed by ${who}, ${made.signer}.`)
    } else if (made.status === 'unknown-issuer') {
      const known = issuer()
      const compared =
        known === undefined
          ? 'The attester of this service is not known here, because the service did not answer.'
          : `It is not the attester of this service, ${known.address}.`
      showVerdict(
        'unknown',
        'warn',
        'Signed by an issuer that is not trusted here.',
        `The signature fits ${made.signer}, which the receipt names. ${compared} Anyone can make such a receipt with a key of their own.`,
      )
    } else {
      showVerdict(
        'bad',
        'cross',
        'This receipt does not hold.',
        failed === undefined ? '' : `${failed.id}: ${failed.detail}.`,
      )
    }
    const isSound = made.status !== 'invalid'
    const hasInputs = made.checks.some(({ id, status }) => id === 'inputs' && status === 'pass')
    const hasProof = 'proof' in checked.response
    const match = !isSound
      ? 'only claimed'
      : hasInputs
        ? 'matches the signed reference'
        : hasProof
          ? 'the location in the signed proof'
          : 'claimed, not checked'
    replace(
      facts,
      isSound &&
        made.statement !== undefined &&
        fact('Statement', foreignText(sentence(made.statement), MAX_STATEMENT)),
      fact('Claimed issuer', hexButton(checked.issuer, 'The issuer')),
      LETTERS.map((letter, index) => {
        const geometry = shown.find((input) => input.letter === letter)?.geometry
        const input = checked.inputs?.[index]
        if (geometry === undefined) return input && fact(`Input ${letter}`, hiddenText(input))
        const box = boxOf([geometry])
        const where = box === undefined ? '' : `, ${degreesText(wrapped((box[0] + box[2]) / 2), (box[1] + box[3]) / 2)}`
        const ref = (checked.response['inputRefs'] as readonly string[] | undefined)?.[index]
        const state = isSound && hasInputs && ref !== undefined ? `${match} ${ref.slice(0, 10)}…` : match
        return fact(`Input ${letter}`, `${geometry.type}${where}: ${state}`)
      }),
      checked.inputs === undefined && shown.length === 0 && fact('Inputs', 'not in the receipt, only their hashes'),
    )
    replace(checks, made.checks.map(checkLine))
    replace(
      chainState,
      isSound ? chainQuestion(made) : h('p', { class: 'hint' }, 'Not asked, because the receipt does not hold.'),
    )
    const json = JSON.stringify({ response: checked.response, inputs: checked.inputs }, null, 2)
    raw.textContent = visibleText(clip(json, MAX_RAW))
    replace(
      code,
      (isSound && qrCode(location.href)) ||
        h(
          'p',
          { class: 'hint' },
          isSound ? 'The address is too long for a QR code.' : 'No QR code, because the receipt does not hold.',
        ),
      isSound &&
        h(
          'p',
          { class: 'hint print-only' },
          `Checked ${new Date().toISOString().slice(0, 19)}Z at ${location.origin}/verify.`,
        ),
    )
    replace(
      caption,
      shown.length > 0 &&
        h(
          'p',
          { class: 'sentence' },
          isSound && hasInputs
            ? 'Inputs that the receipt claims; they match the signed references.'
            : isSound && hasProof
              ? 'The location in the signed proof.'
              : 'Inputs that the receipt only claims.',
        ),
    )
    caption.hidden = shown.length === 0
    body.hidden = false
  }

  function chainQuestion(made: Verdict): Node[] {
    const wallet = injectedWallet()
    const answer = h(
      'p',
      { class: 'hint' },
      `Not asked. ${wallet === undefined ? 'This browser has no wallet to ask.' : 'Your wallet can ask it: contract, schema, nonce, and whether EAS would accept the attestation now.'}`,
    )
    if (wallet === undefined || made.chainId === undefined) return [answer]
    const { chainId } = made
    const ask = async () => {
      replace(chainState, h('p', { class: 'hint' }, 'Asking …'))
      const current = receipt
      const found = await askWallet(wallet, chainId, current!, issuer())
      if (receipt !== current || verdict !== made) return
      replace(
        chainState,
        typeof found === 'string'
          ? h('p', { class: 'hint' }, found)
          : [
              h(
                'p',
                { class: 'hint' },
                'The chain may have changed since the receipt was made. This does not affect the signature.',
              ),
              h('ul', { class: 'checks' }, found.map(checkLine)),
            ],
      )
    }
    return [
      answer,
      h(
        'div',
        { class: 'row screen-only' },
        h(
          'button',
          { class: 'button small', type: 'button', onclick: () => void ask() },
          'Ask the chain with the wallet',
        ),
      ),
    ]
  }

  function showVerdict(state: string, sign: 'check' | 'cross' | 'skip' | 'warn', title: string, text: string): void {
    element.dataset['verdict'] = state
    replace(verdictLine, icon(sign), h('p', {}, h('strong', {}, `${title} `), foreignText(text, MAX_STATEMENT)))
    announce(title)
  }

  function useMap(loaded: BaseMap): void {
    if (!isShown) return
    if (base === undefined) loaded.host.addEventListener('fit', () => isShown && showAll(true))
    base = loaded
    scene = base.enter(RECEIPT_SCENE)
    draw()
  }

  function draw(): void {
    if (scene === undefined || engine === undefined || !isShown) return
    drawInputs(scene, shown, operationOf(receipt?.response ?? {}), engine.kernel)
    showAll(false)
  }

  function showAll(animate: boolean): void {
    const box = extentOf(shown)
    if (box !== undefined) base?.fit(box, animate)
  }
}

function field(label: string, input: HTMLInputElement): HTMLElement {
  return h('div', { class: 'field' }, h('label', { for: input.id }, label), input)
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
