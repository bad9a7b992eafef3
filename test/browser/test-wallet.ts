/** A wallet of the browser for tests: announces itself (EIP-6963), and signs with a key of this process. */
import type { BrowserContext } from 'playwright-core'
import type { PrivateKeyAccount } from 'viem/accounts'

export interface TestWallet {
  /** The methods that pages called, in order. */
  readonly calls: readonly string[]
  /** The texts that were signed. */
  readonly messages: readonly string[]
  /** The code of the error with which the next calls of a method are rejected, by method. */
  readonly rejections: Map<string, number>
  /** What the next calls of a method return instead of the answer of the chain, by method. */
  readonly answers: Map<string, unknown>
  /** Answers so many further calls of a method, and rejects all later ones as a person would. */
  rejectAfter(method: string, count: number): void
}

interface WalletOptions {
  readonly name?: string
  readonly icon?: string
  readonly chainId?: number
  /** A chain that answers all other methods, such as the local chain, whose accounts need no key here. */
  readonly rpcUrl?: string
}

/** What the wallet answers: a value, or an error with its code. */
interface Answer {
  readonly value?: unknown
  readonly code?: number
  readonly message?: string
  readonly data?: unknown
}

/** Code of EIP-1193. */
const USER_REJECTED = 4001
const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#b04a00"/></svg>')}`

/** Adds the wallet to all pages that the context opens or loads again from now on. */
export async function addWallet(
  context: BrowserContext,
  account: PrivateKeyAccount,
  { name = 'Test wallet', icon = ICON, chainId = 84532, rpcUrl }: WalletOptions = {},
): Promise<TestWallet> {
  let currentChainId = chainId
  const calls: string[] = []
  const messages: string[] = []
  const rejections = new Map<string, number>()
  const answers = new Map<string, unknown>()
  const allowed = new Map<string, number>()
  const answer = async (method: string, params: readonly unknown[]): Promise<Answer> => {
    calls.push(method)
    const left = allowed.get(method)
    if (left === 0) rejections.set(method, USER_REJECTED)
    if (left !== undefined) allowed.set(method, left - 1)
    const code = rejections.get(method)
    if (code !== undefined) return { code, message: `rejected with ${code}` }
    if (method === 'eth_requestAccounts') return { value: [account.address.toLowerCase()] }
    if (answers.has(method)) return { value: answers.get(method) }
    if (method === 'eth_chainId') return { value: `0x${currentChainId.toString(16)}` }
    if (method === 'wallet_switchEthereumChain' && rpcUrl !== undefined) {
      currentChainId = Number((params[0] as { chainId: string }).chainId)
      return { value: null }
    }
    if (method !== 'personal_sign')
      return rpcUrl === undefined ? { code: 4200, message: 'unsupported' } : forward(rpcUrl, method, params)
    const message = Buffer.from((params[0] as string).slice(2), 'hex').toString('utf8')
    messages.push(message)
    return { value: await account.signMessage({ message }) }
  }
  const uuid = crypto.randomUUID()
  const binding = `wallet_${uuid.replaceAll('-', '')}`
  await context.exposeFunction(binding, answer)
  await context.addInitScript(
    ([bound, info]) => {
      const ask = (window as unknown as Record<string, (method: string, params: unknown) => Promise<Answer>>)[bound]!
      const provider = {
        async request({ method, params = [] }: { method: string; params?: unknown[] }) {
          const { value, code, message, data } = await ask(method, params)
          if (code !== undefined) throw Object.assign(new Error(message), { code, data })
          return value
        },
      }
      const announce = () =>
        window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: Object.freeze({ info, provider }) }))
      window.addEventListener('eip6963:requestProvider', announce)
      announce()
    },
    [binding, { uuid, name, icon, rdns: 'org.example.wallet' }] as const,
  )
  return { calls, messages, rejections, answers, rejectAfter: (method, count) => allowed.set(method, count) }
}

/** Sends a request to a chain. @returns its result, or the code, message and data of its error */
async function forward(rpcUrl: string, method: string, params: readonly unknown[]): Promise<Answer> {
  const response = await fetch(rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  })
  const { result, error } = (await response.json()) as { result?: unknown; error?: Answer }
  return error ?? { value: result }
}
