/** Settings of the sign-in with a wallet, and of the accounts that it makes. */
import { choice, failure, flag, integer, list, type Setting, splitList, wholeNumber } from './setting.ts'

/** Undefined without a value. */
function optionalFlag(name: string): Setting<boolean | undefined> {
  const setting = flag(name, false)
  return { names: [name], read: (source) => (source.env[name] ? setting.read(source) : undefined) }
}

/** Tier of the accounts of wallets. */
export const WALLET_TIER = choice('WALLET_TIER', ['developer', 'public', 'internal'])

/** What a wallet has to hold for a higher tier, and where. Addresses and the schema UID are in lower case. */
export type WalletProof =
  | { readonly kind: 'token'; readonly token: string; readonly balance: bigint }
  | { readonly kind: 'attestation'; readonly schema: string; readonly attester: string }

export interface WalletTierToken {
  readonly tier: 'developer' | 'internal'
  readonly chainId: number
  readonly proof: WalletProof
}

const TIER_TOKEN_NAME = 'WALLET_TIER_TOKEN'
const TIER_TOKEN_FORM =
  'a list such as tier=internal,chain=84532,token=0x…,balance=1 for a token (ERC-20 or ERC-721), or tier=internal,chain=84532,schema=0x…,attester=0x… for an attestation (EAS)'
const LARGEST_BALANCE = 2n ** 256n - 1n

/** The tier of wallets that hold a token or an attestation; undefined: all wallets have the same tier (decision 152). */
export const WALLET_TIER_TOKEN: Setting<WalletTierToken | undefined> = {
  names: [TIER_TOKEN_NAME],
  read(source) {
    const value = source.env[TIER_TOKEN_NAME]
    if (!value) return undefined
    const fail = (why: string): never => failure(TIER_TOKEN_NAME, value)(`${TIER_TOKEN_FORM}; ${why}`)
    const members = new Map<string, string>()
    for (const entry of splitList(value)) {
      const [name, text = '', more] = entry.split('=').map((part) => part.trim())
      if (text === '' || more !== undefined) fail(`${JSON.stringify(entry)} is not a name and a value`)
      if (members.has(name!)) fail(`${name} is there twice`)
      members.set(name!, text)
    }
    const kind = members.has('schema') ? 'attestation' : 'token'
    const needed = ['tier', 'chain', ...(kind === 'token' ? ['token', 'balance'] : ['schema', 'attester'])]
    const missing = needed.find((name) => !members.has(name))
    if (missing !== undefined) fail(`${missing} is missing`)
    const unknown = [...members.keys()].find((name) => !needed.includes(name))
    if (unknown !== undefined) fail(`${unknown} does not belong there`)
    const hex = (name: string, bytes: number): string => {
      const text = members.get(name)!.toLowerCase()
      const isZero = /^0x0*$/.test(text)
      return new RegExp(`^0x[0-9a-f]{${2 * bytes}}$`).test(text) && !isZero
        ? text
        : fail(`${name} is not 0x and ${2 * bytes} hex digits, other than zero`)
    }
    const tier = members.get('tier')
    const walletTier = WALLET_TIER.read(source)
    if (tier !== 'developer' && tier !== 'internal') return fail('tier is neither developer nor internal')
    if (tier === walletTier || walletTier === 'internal') fail(`tier is not higher than WALLET_TIER, ${walletTier}`)
    const chainId = wholeNumber(members.get('chain')!, 1, Number.MAX_SAFE_INTEGER, () =>
      fail('chain is not a chain ID'),
    )
    if (kind === 'attestation') {
      return { tier, chainId, proof: { kind, schema: hex('schema', 32), attester: hex('attester', 20) } }
    }
    const digits = members.get('balance')!
    const balance = /^\d{1,78}$/.test(digits) ? BigInt(digits) : 0n
    if (balance < 1n || balance > LARGEST_BALANCE)
      fail('balance is not a whole number of the smallest units of the token, from 1 to 2^256 - 1')
    return { tier, chainId, proof: { kind, token: hex('token', 20), balance } }
  },
}

export const SIGN_IN_SETTINGS = {
  /** Undefined: on, unless an API key is required, or the service has no store or, in production, no domain. */
  signIn: optionalFlag('SIGN_IN'),
  /** Host names, with the port if it is not that of the scheme, whose pages may ask for a signature. */
  signInDomains: list('SIGN_IN_DOMAINS'),
  walletTier: WALLET_TIER,
  walletTierToken: WALLET_TIER_TOKEN,
}

export const SIGN_IN_LIMITS = {
  /** How long a token of a session is valid. */
  sessionTokenSeconds: integer('SESSION_TOKEN_SECONDS', 900, 10, 86_400),
  /** How long a session can be continued after the sign-in. Then the wallet has to sign again. */
  sessionSeconds: integer('SESSION_SECONDS', 2_592_000, 60, 31_536_000),
  /** For how long after its first use a refresh token can be used again. 0: never. */
  refreshReuseSeconds: integer('REFRESH_REUSE_SECONDS', 10, 0, 60),
  /** How long a nonce can be used. */
  signInNonceSeconds: integer('SIGN_IN_NONCE_SECONDS', 300, 10, 3600),
  /** Longest wait of a sign-in for the chain of `WALLET_TIER_TOKEN`. */
  walletTierTokenMs: integer('WALLET_TIER_TOKEN_MS', 3000, 10, 10_000),
  maxSignInNonces: integer('MAX_SIGN_IN_NONCES', 10_000, 1, 1_000_000),
  maxSignInNoncesPerClient: integer('MAX_SIGN_IN_NONCES_PER_CLIENT', 20, 1, 1_000_000),
  /** Sessions of all accounts. Each process has those with a valid token in memory. */
  maxSessions: integer('MAX_SESSIONS', 100_000, 1, 1_000_000),
  /** When an account has more, the oldest ends. */
  maxSessionsPerAccount: integer('MAX_SESSIONS_PER_ACCOUNT', 10, 1, 1000),
  maxKeysPerAccount: integer('MAX_KEYS_PER_ACCOUNT', 10, 1, 1000),
}
