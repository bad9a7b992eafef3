/** Putting the answer on its chain: through an injected wallet, after the chain itself was asked whether it would take it. */
import type { Issuer } from '../../../src/client/answers.ts'
import { attestByDelegation } from '../../../src/client/chain-calls.ts'
import { javascriptKeccak } from '../../../src/crypto/keccak-javascript.ts'
import type { ComputeResponse } from '../../../src/types/generated.ts'
import { copy, h, replace } from '../dom.ts'
import { shortHex } from '../format.ts'
import { icon } from '../icons.ts'
import { chainOf } from './attestation.ts'
import type { State } from './session.ts'

/** EIP-1193, as wallets put it into pages. */
interface Wallet {
  request(call: { method: string; params?: readonly unknown[] }): Promise<unknown>
}

const RECEIPT_MS = 120_000
const POLL_MS = 1500

export function createSubmitPanel(issuer: () => Issuer | undefined) {
  const outcome = h('div', { class: 'stack', role: 'status' })
  const submit = h(
    'button',
    { class: 'button primary', type: 'button', onclick: () => void run() },
    'Submit with a wallet',
  )
  const calldata = h(
    'button',
    { class: 'button', type: 'button', onclick: () => copyCalldata() },
    icon('copy'),
    'Copy calldata',
  )
  const words = h('p', { class: 'hint' })
  const element = h('div', { class: 'stack' }, words, h('div', { class: 'row' }, submit, calldata), outcome)
  let state: State | undefined
  return { element, show }

  function show(next: State): void {
    if (next.answer !== state?.answer) replace(outcome)
    state = next
    const chain = chainOf(issuer(), next.question.chainId)
    const isReady = next.answer !== undefined && chain !== undefined
    submit.disabled = !isReady || walletOf() === undefined
    calldata.disabled = !isReady
    words.textContent =
      walletOf() === undefined
        ? 'There is no wallet in this browser. Whoever has one can submit the calldata to the EAS contract; it needs no permission.'
        : `The wallet sends attestByDelegation to EAS${chain === undefined ? '' : ` on ${chain.name}`}. First the chain is asked whether it would take it.`
  }

  function callOf(answer: ComputeResponse): { to: string; data: string; chainId: number } | undefined {
    const chain = state === undefined ? undefined : chainOf(issuer(), state.question.chainId)
    if (chain === undefined) return undefined
    return {
      to: chain.registry,
      data: attestByDelegation(answer, chain.profile, javascriptKeccak()),
      chainId: chain.chainId,
    }
  }

  function copyCalldata(): void {
    const call = state?.answer === undefined ? undefined : callOf(state.answer)
    if (call !== undefined) void copy(call.data, `Calldata for ${shortHex(call.to)}`)
  }

  async function run(): Promise<void> {
    const wallet = walletOf()
    const call = state?.answer === undefined ? undefined : callOf(state.answer)
    if (wallet === undefined || call === undefined) return
    submit.disabled = true
    try {
      say('Waiting for the wallet …')
      const [from] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[]
      const wanted = `0x${call.chainId.toString(16)}`
      if ((await wallet.request({ method: 'eth_chainId' })) !== wanted) {
        say(`Asking the wallet for chain ${call.chainId} …`)
        await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: wanted }] })
      }
      const transaction = { from, to: call.to, data: call.data, value: '0x0' }
      say('Asking the chain whether it would take it …')
      await wallet.request({ method: 'eth_call', params: [transaction, 'latest'] })
      say('It would. Waiting for your confirmation …')
      const hash = (await wallet.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
      say(`Sent as ${shortHex(hash)}. Waiting for its block …`)
      await showReceipt(wallet, hash)
    } catch (error) {
      replace(
        outcome,
        h('div', { class: 'note bad', role: 'alert' }, h('strong', {}, 'Not submitted. '), reasonOf(error)),
      )
    } finally {
      submit.disabled = false
    }
  }

  async function showReceipt(wallet: Wallet, hash: string): Promise<void> {
    const until = Date.now() + RECEIPT_MS
    while (Date.now() < until) {
      const receipt = (await wallet.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
        status: string
        blockNumber: string
        logs: { data: string }[]
      } | null
      if (receipt !== null) {
        if (receipt.status !== '0x1') throw new Error(`the transaction ${hash} was reverted`)
        const uid = receipt.logs[0]?.data.slice(0, 66) ?? ''
        replace(
          outcome,
          h(
            'div',
            { class: 'note good' },
            h('strong', {}, 'On the chain. '),
            `Block ${Number(receipt.blockNumber)}, attestation `,
            h('code', {}, shortHex(uid)),
            '. The next answers carry the next nonce.',
          ),
        )
        return
      }
      await new Promise((done) => setTimeout(done, POLL_MS))
    }
    say(`No block within ${RECEIPT_MS / 60_000} minutes; the wallet knows what becomes of ${shortHex(hash)}.`)
  }

  function say(text: string): void {
    replace(outcome, h('p', { class: 'note' }, text))
  }
}

function walletOf(): Wallet | undefined {
  return (window as { ethereum?: Wallet }).ethereum
}

/** Wallets wrap what the chain said in objects of their own. */
function reasonOf(error: unknown): string {
  const { code, message, data } = error as { code?: number; message?: string; data?: { message?: string } | string }
  if (code === 4001) return 'You declined it in the wallet.'
  const told = typeof data === 'object' ? data?.message : data
  return `${message ?? 'The wallet gave no reason'}${told === undefined || message?.includes(told) === true ? '' : ` (${told})`}. A used nonce or a passed deadline is mended by Sign again.`
}
