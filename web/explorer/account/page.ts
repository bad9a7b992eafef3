/** The page of accounts: sign in with a wallet, then limits, API keys and usage of the account. */

import { ApiError, ConnectionError, type SignedIn } from '../../../src/client/client.ts'
import type { Account } from '../../../src/types/generated.ts'
import { defaultChainId, FIRST_CHAIN_ID } from '../chains.ts'
import { announce, type Child, h, replace } from '../dom.ts'
import { fact, foreignText, hexButton } from '../facts.ts'
import type { Page, PageParts } from '../page.ts'
import { noWalletNote, walletList } from '../wallet-list.ts'
import { connectWallet, describeWalletError, type FoundWallet, findWallets } from '../wallets.ts'
import { createKeyPanel } from './keys.ts'
import { limitList } from './limit-list.ts'
import { accountProblem } from './problem.ts'
import { createAccountSession, isEnded } from './session.ts'
import { createUsagePanel } from './usage.ts'

/** Characters of a note of the service that are shown. */
const MAX_NOTE = 300
const SIGN_IN_ROUTE = '/auth/siwe'
const TIER_WORDS = { public: 'Public', developer: 'Developer', internal: 'Internal' } as const

export function createAccountPage({ api, issuer }: PageParts): Page {
  const session = createAccountSession(api)
  const keys = createKeyPanel(api, session, () => showEnded())
  const usage = createUsagePanel(session, () => showEnded())
  const facts = h('dl', { class: 'facts' })
  const tierNote = h('div', { class: 'stack' })
  const limits = h('div')
  const outcome = h('div', { class: 'stack' })
  const accountHeading = h('h2', { tabindex: -1 }, 'Your account')
  const signOutButton = h(
    'button',
    { class: 'button small', type: 'button', onclick: () => void signOut() },
    'Sign out',
  )
  const signedIn = h(
    'div',
    { class: 'account-columns' },
    h(
      'div',
      { class: 'stack account-column' },
      h(
        'section',
        { class: 'account-card stack', 'aria-label': 'Your account' },
        h('div', { class: 'row between' }, accountHeading, signOutButton),
        facts,
        tierNote,
        h('h3', { class: 'eyebrow' }, 'Limits of this hour'),
        limits,
        outcome,
      ),
      keys.element,
    ),
    usage.element,
  )
  const body = h('div', { class: 'stack' }, h('p', { class: 'hint', role: 'status' }, 'The page is loading …'))
  const element = h(
    'div',
    { class: 'page-frame account-page', role: 'region', 'aria-label': 'Account' },
    h(
      'div',
      { class: 'account-head' },
      h('h1', { class: 'page-title' }, 'Account'),
      h(
        'p',
        { class: 'lead' },
        'Prove with a signature that you hold an address. You get a higher limit, API keys of your own, and see what they use. ',
        h('a', { href: '/docs/guide/accounts' }, 'About accounts'),
      ),
    ),
    body,
  )
  let isSignedIn = false
  /** Raised at the end of a session: answers to its requests are ignored. */
  let generation = 0
  /** The tier that the sign-in gave. */
  let given: SignedIn | undefined
  /** The name of the wallet that is waited for, and the step. */
  let waiting: { readonly wallet: string; step: string } | undefined
  let note: Child
  let isOffered = false
  const wallets = findWallets(() => {
    if (isOffered) showWallets()
  })
  session.onLimits((read) => {
    if (isSignedIn) replace(limits, limitList(read))
  })

  return {
    element,
    enter() {
      if (isSignedIn) void load()
      else if (!isOffered) void offer()
      else showWallets()
    },
    leave() {},
  }

  /** Shows the wallets, if this service has the sign-in on. */
  async function offer(): Promise<void> {
    try {
      const { endpoints } = await api.client.info()
      isOffered = endpoints[SIGN_IN_ROUTE] !== undefined
      if (isOffered) showWallets()
      else replace(body, offNote())
    } catch (error) {
      replace(
        body,
        accountProblem(error),
        retryButton(() => void offer()),
      )
    }
  }

  function showWallets(): void {
    if (isSignedIn) return
    const found = wallets()
    replace(
      body,
      h(
        'section',
        { class: 'account-card stack sign-in', 'aria-label': 'Sign in' },
        h('h2', { tabindex: -1 }, 'Sign in'),
        note,
        found.length === 0
          ? noWallet()
          : [
              h(
                'p',
                { class: 'hint' },
                'The wallet shows a text with the name of this site, and signs it. Nothing is sent to a chain.',
              ),
              walletList(
                found,
                { isBusy: waiting !== undefined, waitingId: waiting?.wallet },
                (one) => void signIn(one),
              ),
            ],
        waiting !== undefined && h('p', { class: 'hint' }, waiting.step),
      ),
    )
  }

  function noWallet(): Child {
    const guide = { text: 'the guide shows how', href: '/docs/guide/accounts' }
    return [
      noWalletNote('A program can sign in without a browser: ', guide),
      retryButton(() => location.reload(), 'Reload the page'),
    ]
  }

  async function signIn({ id, wallet }: FoundWallet): Promise<void> {
    const step = (text: string) => {
      waiting = { wallet: id, step: text }
      showWallets()
      announce(text)
    }
    note = undefined
    try {
      step('Choose an account in the wallet …')
      const account = await connectWallet(wallet)
      const known = issuer()
      const isSupported = known?.chains.some(({ chainId }) => chainId === account.chainId)
      const fallback = known === undefined ? FIRST_CHAIN_ID : defaultChainId(known)
      const chainId = isSupported ? account.chainId : fallback
      given = await session.signIn(account, chainId, step)
      waiting = undefined
      isSignedIn = true
      replace(body, signedIn)
      accountHeading.focus({ preventScroll: true })
      announce('You are signed in')
      await load()
    } catch (error) {
      waiting = undefined
      announce('') // the note is announced itself
      const isOurs = error instanceof ApiError || error instanceof ConnectionError
      note = isOurs
        ? accountProblem(error)
        : h('div', { class: 'note', role: 'alert' }, h('strong', {}, 'Not signed in. '), describeWalletError(error))
      showWallets()
    }
  }

  /** Reads account, keys and usage again. */
  async function load(): Promise<void> {
    const number = generation
    try {
      const account = await session.client.account.get()
      if (number !== generation) return
      showAccount(account)
      replace(outcome)
      await Promise.all([keys.show(account), usage.show()])
    } catch (error) {
      if (number !== generation) return
      if (isEnded(error)) showEnded()
      else
        replace(
          outcome,
          accountProblem(error),
          retryButton(() => void load()),
        )
    }
  }

  function showAccount({ address, chainId, tier, requestsPerHour }: Account): void {
    const chain = issuer()?.chains.find((one) => one.chainId === chainId)
    replace(
      facts,
      fact('Address', hexButton(address, 'Your address')),
      fact('Valid on', chainId === null ? 'all chains' : `${chain?.name ?? 'chain'} (${chainId}), as a contract`),
      fact(
        'Tier',
        `${TIER_WORDS[tier]}: ${requestsPerHour.toLocaleString('en')} requests an hour, with all keys together`,
      ),
    )
    // A later refresh of the session may have found another tier, for which the note does not hold.
    const note = given?.tier === tier ? given.tierNote : undefined
    replace(
      tierNote,
      note !== undefined &&
        h('p', { class: 'note' }, h('strong', {}, 'No higher tier: '), foreignText(note, MAX_NOTE), '.'),
    )
  }

  async function signOut(): Promise<void> {
    const number = generation
    signOutButton.disabled = true
    const words = await session.client.signOut().then(
      () => 'You are signed out. Your keys stay valid.',
      () => 'This page has forgotten your session, but the service did not respond. It ends by itself.',
    )
    signOutButton.disabled = false
    if (number === generation) showSignedOut(h('p', { class: 'note', role: 'status' }, words))
  }

  function showEnded(): void {
    if (!isSignedIn) return
    void session.client.signOut() // forgets the session; the service has ended it
    const words = h('strong', {}, 'Your session has ended. ')
    showSignedOut(h('div', { class: 'note', role: 'alert' }, words, 'Sign in again to go on. Your keys stay valid.'))
  }

  function showSignedOut(words: HTMLElement): void {
    isSignedIn = false
    generation++
    note = words
    for (const panel of [keys, usage]) panel.clear()
    given = undefined
    replace(facts)
    replace(tierNote)
    replace(limits)
    replace(outcome)
    showWallets()
    body.querySelector('h2')?.focus({ preventScroll: true })
  }
}

function offNote(): HTMLElement {
  return h(
    'div',
    { class: 'note' },
    h(
      'p',
      {},
      h('strong', {}, 'This service has no sign-in. '),
      'Its operator has turned it off, or another setting rules it out.',
    ),
    h('p', {}, 'An API key from the operator raises your limit: enter it with the button at the top of the page.'),
  )
}

function retryButton(act: () => void, words = 'Try again'): HTMLElement {
  return h(
    'div',
    { class: 'row' },
    h('button', { class: 'button small', type: 'button', 'data-key': 'retry', onclick: act }, words),
  )
}
