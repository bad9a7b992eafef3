/** The wallets of this browser: those that announce themselves (EIP-6963), and what one of them answers. */
import { clip, visibleText } from '../../src/base/text.ts'
import { bytesToHex, utf8 } from '../../src/crypto/hex.ts'

/** The EIP-1193 provider that wallets inject into pages. */
export interface Wallet {
  request(call: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>
  /** Not every wallet reports events. */
  on?(event: string, listener: () => void): void
}

export interface FoundWallet {
  readonly id: string
  /** Any text: extensions choose it. */
  readonly name: string
  /** Address of a picture (`data:`). */
  readonly icon: string | undefined
  readonly wallet: Wallet
}

/** An extension could announce any number. */
const MAX_WALLETS = 20
const MAX_NAME = 60
const MAX_ICON = 200_000
const MAX_MESSAGE = 200

/** Returns the wallet that the browser injects as `window.ethereum`. */
export function injectedWallet(): Wallet | undefined {
  return (window as { ethereum?: Wallet }).ethereum
}

/**
 * Asks the wallets to announce themselves. Some do so later, because their extension is still loading.
 *
 * @param changed called after each announcement
 * @returns a function that lists the wallets; the injected one only if none has announced itself
 */
export function findWallets(changed: () => void): () => readonly FoundWallet[] {
  const found = new Map<string, FoundWallet>()
  window.addEventListener('eip6963:announceProvider', (event) => {
    const wallet = readAnnouncement((event as CustomEvent<unknown>).detail)
    if (wallet === undefined || found.has(wallet.id) || found.size >= MAX_WALLETS) return
    found.set(wallet.id, wallet)
    changed()
  })
  window.dispatchEvent(new Event('eip6963:requestProvider'))
  return () => {
    const injected = injectedWallet()
    if (found.size > 0 || injected === undefined) return [...found.values()]
    return [{ id: 'injected', name: 'The wallet of this browser', icon: undefined, wallet: injected }]
  }
}

function readAnnouncement(detail: unknown): FoundWallet | undefined {
  const { info, provider } = (detail ?? {}) as { info?: Record<string, unknown>; provider?: Wallet }
  if (typeof provider?.request !== 'function') return undefined
  const { uuid, name, icon } = info ?? {}
  if (typeof uuid !== 'string' || typeof name !== 'string') return undefined
  // Only pictures within the announcement: any other address would tell its server who visits this page.
  const isPicture = typeof icon === 'string' && icon.length <= MAX_ICON && /^data:image\//.test(icon)
  return {
    id: uuid,
    name: visibleText(clip(name, MAX_NAME)),
    icon: isPicture ? icon : undefined,
    wallet: provider,
  }
}

export interface WalletAccount {
  readonly address: string
  readonly chainId: number
  signMessage(message: string): Promise<string>
}

/**
 * Connects the first account of a wallet.
 *
 * @throws {Error} if it has none
 * @throws what the wallet throws
 */
export async function connectWallet(wallet: Wallet): Promise<WalletAccount> {
  const accounts = await wallet.request({ method: 'eth_requestAccounts' })
  const [address] = Array.isArray(accounts) ? (accounts as unknown[]) : []
  if (typeof address !== 'string' || !/^0x[0-9a-fA-F]{40}$/.test(address)) throw new Error('The wallet has no account')
  return {
    address,
    chainId: Number(await wallet.request({ method: 'eth_chainId' })),
    async signMessage(message) {
      const params = [`0x${bytesToHex(utf8(message))}`, address]
      const signature = await wallet.request({ method: 'personal_sign', params })
      if (typeof signature !== 'string') throw new Error('The wallet returned no signature')
      return signature
    },
  }
}

/** Returns true if the user said no. */
export function wasRejected(error: unknown): boolean {
  return (error as { readonly code?: unknown } | null)?.code === USER_REJECTED
}

/** Describes an error of a wallet. Each wallet wraps the message of the chain in a different object. */
export function describeWalletError(error: unknown): string {
  const { code, message, data } = (error ?? {}) as {
    code?: number
    message?: string
    data?: { message?: string } | string
  }
  if (wasRejected(error)) return 'You rejected it in the wallet.'
  if (code === REQUEST_OPEN) return 'The wallet has a question open already. Answer it in the wallet, then try again.'
  const chainMessage = typeof data === 'object' ? data?.message : data
  const isNew = chainMessage !== undefined && message?.includes(chainMessage) !== true
  const text = `${message ?? 'The wallet gave no reason'}${isNew ? ` (${chainMessage})` : ''}`
  return `${visibleText(clip(text, MAX_MESSAGE))}.`
}

/** Codes of EIP-1193 and, for a request that waits already, of EIP-1474. */
const USER_REJECTED = 4001
const REQUEST_OPEN = -32002
