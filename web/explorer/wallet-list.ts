/** The wallets of the browser as a list of buttons, and the note for a browser without one. */
import { h } from './dom.ts'
import type { FoundWallet } from './wallets.ts'

export interface WalletListState {
  /** No wallet can be chosen while one is being asked. */
  readonly isBusy: boolean
  /** The wallet that is being asked. */
  readonly waitingId?: string | undefined
}

/** @param choose called with the wallet that a person chooses */
export function walletList(
  found: readonly FoundWallet[],
  { isBusy, waitingId }: WalletListState,
  choose: (wallet: FoundWallet) => void,
): HTMLElement {
  return h('ul', { class: 'wallet-list' }, found.map(walletItem))

  function walletItem(one: FoundWallet): HTMLElement {
    const { id, name, icon } = one
    return h(
      'li',
      {},
      h(
        'button',
        {
          class: 'button wallet',
          type: 'button',
          disabled: isBusy,
          'data-key': `wallet-${id}`,
          onclick: () => choose(one),
        },
        icon === undefined
          ? h('span', { class: 'wallet-icon', 'aria-hidden': 'true' })
          : h('img', { class: 'wallet-icon', src: icon, alt: '', width: 24, height: 24 }),
        h('bdi', { class: 'wallet-name' }, name),
        id === waitingId && h('span', { class: 'hint' }, 'Waiting …'),
      ),
    )
  }
}

/**
 * Says that there is no wallet, and what a program can do instead.
 *
 * @param alternative the beginning of a sentence, which the link ends
 * @param guide the text of the link, and the page of the guide
 */
export function noWalletNote(
  alternative: string,
  guide: { readonly text: string; readonly href: string },
): HTMLElement {
  return h(
    'div',
    { class: 'note' },
    h(
      'p',
      {},
      h('strong', {}, 'No wallet was found. '),
      'Install one as an extension of this browser, then reload the page.',
    ),
    h('p', {}, alternative, h('a', { href: guide.href }, guide.text), '.'),
  )
}
