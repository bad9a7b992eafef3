/** Settings of the sign-in with a wallet, and of the accounts that it makes. */
import { choice, flag, integer, list, type Setting } from './setting.ts'

/** Undefined without a value. */
function optionalFlag(name: string): Setting<boolean | undefined> {
  const setting = flag(name, false)
  return { names: [name], read: (source) => (source.env[name] ? setting.read(source) : undefined) }
}

/** Tier of the accounts of wallets. */
export const WALLET_TIER = choice('WALLET_TIER', ['developer', 'public', 'internal'])

export const SIGN_IN_SETTINGS = {
  /** Undefined: on, unless an API key is required, or the service has no store or, in production, no domain. */
  signIn: optionalFlag('SIGN_IN'),
  /** Host names, with the port if it is not that of the scheme, whose pages may ask for a signature. */
  signInDomains: list('SIGN_IN_DOMAINS'),
  walletTier: WALLET_TIER,
}

export const SIGN_IN_LIMITS = {
  /** How long a token of a session is valid. */
  sessionTokenSeconds: integer('SESSION_TOKEN_SECONDS', 900, 10, 86_400),
  /** How long a session can be continued after the sign-in. Then the wallet has to sign again. */
  sessionSeconds: integer('SESSION_SECONDS', 2_592_000, 60, 31_536_000),
  /** How long a nonce can be used. */
  signInNonceSeconds: integer('SIGN_IN_NONCE_SECONDS', 300, 10, 3600),
  maxSignInNonces: integer('MAX_SIGN_IN_NONCES', 10_000, 1, 1_000_000),
  maxSignInNoncesPerClient: integer('MAX_SIGN_IN_NONCES_PER_CLIENT', 20, 1, 1_000_000),
  /** Sessions of all accounts. Each process has those with a valid token in memory. */
  maxSessions: integer('MAX_SESSIONS', 100_000, 1, 1_000_000),
  /** When an account has more, the oldest ends. */
  maxSessionsPerAccount: integer('MAX_SESSIONS_PER_ACCOUNT', 10, 1, 1000),
  maxKeysPerAccount: integer('MAX_KEYS_PER_ACCOUNT', 10, 1, 1000),
}
