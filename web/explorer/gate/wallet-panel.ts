/** The panel of the wallet: the wallets of the browser, the connected account, and the chain of the gate. */
import type { Issuer } from '../../../src/client/answers.ts'
import { h, replace } from '../dom.ts'
import { fact, hexButton } from '../facts.ts'
import { noWalletNote, walletList } from '../wallet-list.ts'
import type { FoundWallet, Wallet, WalletAccount } from '../wallets.ts'

export interface WalletState {
  readonly found: readonly FoundWallet[]
  readonly account: Pick<WalletAccount, 'address' | 'chainId'> | undefined
  readonly wallet: Wallet | undefined
  readonly issuer: Issuer | undefined
  /** The chain of the gate. */
  readonly chainId: number | undefined
  readonly isBusy: boolean
  /** The chain of a deployed gate cannot be changed. */
  readonly isLocked: boolean
}

interface WalletActs {
  readonly connect: (found: FoundWallet) => void
  readonly chooseChain: (chainId: number) => void
  readonly switchChain: () => void
}

export function createWalletPanel({ connect, chooseChain, switchChain }: WalletActs) {
  const body = h('div', { class: 'stack' })
  const problem = h('div', { class: 'stack' })
  const element = h(
    'section',
    { class: 'panel', 'aria-label': 'Wallet' },
    h('h2', { class: 'eyebrow' }, '2. Wallet'),
    body,
    problem,
  )
  return { element, problem, show }

  function show(state: WalletState): void {
    replace(body, state.account === undefined ? wallets(state) : connected(state, state.account), chains(state))
  }

  function wallets({ found, isBusy }: WalletState): HTMLElement {
    if (found.length > 0) return walletList(found, { isBusy }, connect)
    const guide = { text: 'the guide has a script', href: '/docs/guide/solidity' }
    return noWalletNote('A program can do the same without a browser: ', guide)
  }

  function connected({ issuer, chainId, isBusy }: WalletState, account: WalletState['account'] & object): HTMLElement {
    const nameOf = (id: number) => issuer?.chains.find((chain) => chain.chainId === id)?.name
    const isWrong = chainId !== undefined && account.chainId !== chainId
    return h(
      'div',
      { class: 'stack' },
      h(
        'dl',
        { class: 'facts' },
        fact('Account', hexButton(account.address, 'Your address')),
        fact('Chain of the wallet', `${nameOf(account.chainId) ?? 'unknown to the service'} (${account.chainId})`),
      ),
      isWrong &&
        h(
          'div',
          { class: 'note', role: 'status' },
          h(
            'p',
            {},
            h('strong', {}, 'The wallet is on another chain. '),
            `The gate is for ${nameOf(chainId) ?? 'chain'} (${chainId}).`,
          ),
          h(
            'div',
            { class: 'row' },
            h(
              'button',
              { class: 'button small', type: 'button', disabled: isBusy, 'data-key': 'switch', onclick: switchChain },
              `Switch to ${nameOf(chainId) ?? `chain ${chainId}`}`,
            ),
          ),
        ),
    )
  }

  function chains({ issuer, chainId, isBusy, isLocked }: WalletState): HTMLElement | undefined {
    if (issuer === undefined) return undefined
    const usable = issuer.chains.filter(({ rpc }) => rpc)
    if (usable.length === 0) {
      return h(
        'div',
        { class: 'note' },
        h('strong', {}, 'This service reads no chain. '),
        'It has no RPC endpoint, so it cannot read location attestations. Start it with ',
        h('code', {}, 'npm start -- --chain'),
        ' for a local chain, or set ',
        h('code', {}, 'RPC_URL_84532'),
        '.',
      )
    }
    const select = h(
      'select',
      {
        class: 'select',
        id: 'gate-chain',
        'data-key': 'gate-chain',
        disabled: isBusy || isLocked,
        onchange: () => chooseChain(Number(select.value)),
      },
      usable.some((chain) => chain.chainId === chainId) || chainId === undefined
        ? undefined
        : h('option', { value: chainId }, `Chain ${chainId}, which the service does not read`),
      usable.map((chain) => h('option', { value: chain.chainId }, `${chain.name} (${chain.chainId})`)),
    )
    if (chainId !== undefined) select.value = String(chainId)
    return h('div', { class: 'field' }, h('label', { for: 'gate-chain' }, 'Chain of the gate'), select)
  }
}
