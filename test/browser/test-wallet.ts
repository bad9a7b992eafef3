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
}

interface WalletOptions {
  readonly name?: string
  readonly icon?: string
  readonly chainId?: number
}

const ICON = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 8 8"><circle cx="4" cy="4" r="4" fill="#b04a00"/></svg>')}`

/** Adds the wallet to all pages that the context opens or loads again from now on. */
export async function addWallet(
  context: BrowserContext,
  account: PrivateKeyAccount,
  { name = 'Test wallet', icon = ICON, chainId = 84532 }: WalletOptions = {},
): Promise<TestWallet> {
  const calls: string[] = []
  const messages: string[] = []
  const rejections = new Map<string, number>()
  const answer = async (method: string, [first]: readonly string[]) => {
    calls.push(method)
    const code = rejections.get(method)
    if (code !== undefined) return { code, message: `rejected with ${code}` }
    if (method === 'eth_requestAccounts') return { value: [account.address.toLowerCase()] }
    if (method === 'eth_chainId') return { value: `0x${chainId.toString(16)}` }
    if (method !== 'personal_sign') return { code: 4200, message: 'unsupported' }
    const message = Buffer.from(first!.slice(2), 'hex').toString('utf8')
    messages.push(message)
    return { value: await account.signMessage({ message }) }
  }
  const uuid = crypto.randomUUID()
  const binding = `wallet_${uuid.replaceAll('-', '')}`
  await context.exposeFunction(binding, answer)
  await context.addInitScript(
    ([bound, info]) => {
      type Answer = { readonly value?: unknown; readonly code?: number; readonly message?: string }
      const ask = (window as unknown as Record<string, (method: string, params: unknown) => Promise<Answer>>)[bound]!
      const provider = {
        async request({ method, params = [] }: { method: string; params?: unknown[] }) {
          const { value, code, message } = await ask(method, params)
          if (code !== undefined) throw Object.assign(new Error(message), { code })
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
  return { calls, messages, rejections }
}
