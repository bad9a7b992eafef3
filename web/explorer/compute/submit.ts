/** Submits the signed response to its chain through an injected wallet, after `eth_call` shows that EAS would accept it. */
import type { Issuer } from '../../../src/client/answers.ts'
import { attestByDelegation } from '../../../src/client/verify/check-chain.ts'
import { javascriptKeccak } from '../../../src/crypto/noble.ts'
import type { ComputeResponse } from '../../../src/types/generated.ts'
import { copy, h, replace } from '../dom.ts'
import { shortHex } from '../format.ts'
import { icon } from '../icons.ts'
import { describeWalletError, injectedWallet, type Wallet, wasRejected } from '../wallets.ts'
import { chainOf } from './attestation.ts'
import type { State } from './session.ts'

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
  const hint = h('p', { class: 'hint' })
  const element = h('div', { class: 'stack' }, hint, h('div', { class: 'row' }, submit, calldata), outcome)
  let state: State | undefined
  return { element, show }

  function show(next: State): void {
    if (next.response !== state?.response) replace(outcome)
    state = next
    const chain = chainOf(issuer(), next.draft.chainId)
    const isReady = next.response !== undefined && chain !== undefined
    submit.disabled = !isReady || injectedWallet() === undefined
    calldata.disabled = !isReady
    hint.textContent =
      injectedWallet() === undefined
        ? 'This browser has no wallet. Anyone with a wallet can submit the calldata to the EAS contract; no permission is needed.'
        : `The wallet sends attestByDelegation to EAS${chain === undefined ? '' : ` on ${chain.name}`}. Before that, eth_call checks that the contract would accept it.`
  }

  function buildCall(response: ComputeResponse): { to: string; data: string; chainId: number } | undefined {
    const chain = state === undefined ? undefined : chainOf(issuer(), state.draft.chainId)
    if (chain === undefined) return undefined
    return {
      to: chain.registry,
      data: attestByDelegation(response, chain.profile, javascriptKeccak()),
      chainId: chain.chainId,
    }
  }

  function copyCalldata(): void {
    const call = state?.response === undefined ? undefined : buildCall(state.response)
    if (call !== undefined) void copy(call.data, `Calldata for ${shortHex(call.to)}`)
  }

  async function run(): Promise<void> {
    const wallet = injectedWallet()
    const call = state?.response === undefined ? undefined : buildCall(state.response)
    if (wallet === undefined || call === undefined) return
    submit.disabled = true
    try {
      showNote('Waiting for the wallet …')
      const [from] = (await wallet.request({ method: 'eth_requestAccounts' })) as string[]
      const chainIdHex = `0x${call.chainId.toString(16)}`
      if ((await wallet.request({ method: 'eth_chainId' })) !== chainIdHex) {
        showNote(`Asking the wallet to switch to chain ${call.chainId} …`)
        await wallet.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: chainIdHex }] })
      }
      const transaction = { from, to: call.to, data: call.data, value: '0x0' }
      showNote('Checking with eth_call that the contract would accept it …')
      await wallet.request({ method: 'eth_call', params: [transaction, 'latest'] })
      showNote('The contract would accept it. Waiting for your confirmation …')
      const hash = (await wallet.request({ method: 'eth_sendTransaction', params: [transaction] })) as string
      showNote(`Sent as ${shortHex(hash)}. Waiting for a block …`)
      await showReceipt(wallet, hash)
    } catch (error) {
      replace(
        outcome,
        h(
          'div',
          { class: 'note bad', role: 'alert' },
          h('strong', {}, 'Not submitted. '),
          describeWalletError(error),
          wasRejected(error) ? undefined : ' If the nonce is used or the deadline has passed, choose Sign again.',
        ),
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
            '. The next responses will have the next nonce.',
          ),
        )
        return
      }
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    showNote(`No block within ${RECEIPT_MS / 60_000} minutes. Check in your wallet what became of ${shortHex(hash)}.`)
  }

  function showNote(text: string): void {
    replace(outcome, h('p', { class: 'note' }, text))
  }
}
