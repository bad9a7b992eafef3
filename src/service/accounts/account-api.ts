/** The routes of accounts, without HTTP. */
import type { Metrics } from '../../base/metrics.ts'
import { ProblemError } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { ConfigError } from '../../config/setting.ts'
import { checksumAddress } from '../../crypto/address.ts'
import type { StoreCaller } from '../../threads/store-client.ts'
import { readAccountKeyRequest } from '../../validation/key-request.ts'
import { readRefreshRequest, readSignInRequest } from '../../validation/sign-in-message.ts'
import type { AccountSession } from '../../wire/account-messages.ts'
import { DEFAULT_SCOPES, type Tier } from '../../wire/key-messages.ts'
import { createKeyRoutesOf, orUnavailable } from '../keys/key-api.ts'
import { KeyManager, type KeyRepository } from '../keys/keys.ts'
import type { ServiceResponse } from '../request.ts'
import type { NewTokens, SignIn } from './sign-in.ts'
import type { WalletTiers } from './wallet-tier.ts'

/**
 * What the HTTP layer sees of accounts. All methods throw a `ProblemError`. The caller is the client whose share of the store they use, and who
 * is charged for it.
 */
export interface AccountService {
  nonce(caller: StoreCaller): Promise<ServiceResponse>
  /** @param body JSON as in `SignInRequest` */
  signIn(body: Uint8Array, caller: StoreCaller): Promise<ServiceResponse>
  /** @param body JSON as in `RefreshRequest` */
  refresh(body: Uint8Array, caller: StoreCaller): Promise<ServiceResponse>
  signOut(session: AccountSession, caller: StoreCaller): Promise<void>
  describe(session: AccountSession): ServiceResponse
  /** The keys of an account; those of others do not exist for it. */
  listKeys(session: AccountSession, caller: StoreCaller): Promise<ServiceResponse>
  /** @param body JSON as in `AccountKeyRequest` */
  addKey(session: AccountSession, body: Uint8Array, caller: StoreCaller): Promise<ServiceResponse>
  /** @param query `overlapSeconds`, how long the old key stays valid */
  rotateKey(session: AccountSession, id: string, query: string, caller: StoreCaller): Promise<ServiceResponse>
  revokeKey(session: AccountSession, id: string, caller: StoreCaller): Promise<ServiceResponse>
}

export interface AccountServiceParts {
  readonly signIn: SignIn
  readonly repository: KeyRepository
  readonly tiers: WalletTiers
  /** Tier of the keys of accounts. */
  readonly tier: Tier
  readonly requestsPerHour: Readonly<Record<Tier, number>>
  /** What all accounts may use together from one network address. */
  readonly addressRequestsPerHour: number
  readonly maxKeys: number
  readonly maxJsonDepth: number
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly metrics: Metrics
}

const STORE = 'the database of the accounts'
const KEYS = 'the store of the API keys'

export function createAccountService(parts: AccountServiceParts): AccountService {
  const {
    signIn,
    repository,
    tiers,
    tier,
    requestsPerHour,
    addressRequestsPerHour,
    maxKeys,
    maxJsonDepth,
    now,
    metrics,
  } = parts
  const keysOf = ({ account }: AccountSession, caller: StoreCaller) =>
    createKeyRoutesOf(new KeyManager(repository, now, { account, maxKeys }, caller))
  const requests = metrics.counter('session_requests_total', 'Sign-ins, refreshes and sign-outs by outcome')
  for (const action of ['sign-in', 'refresh', 'sign-out'] as const) requests.series({ action, outcome: 'ok' })
  const counted = async <T>(action: 'sign-in' | 'refresh' | 'sign-out', run: () => Promise<T>): Promise<T> => {
    let outcome = 'internal'
    try {
      const result = await orUnavailable(STORE, run)
      outcome = 'ok'
      return result
    } catch (error) {
      if (error instanceof ProblemError) outcome = error.data.type
      throw error
    } finally {
      requests.series({ action, outcome }).count++
    }
  }
  return {
    nonce: (caller) =>
      orUnavailable(STORE, async () => {
        const nonce = await signIn.nonce(caller)
        return { json: JSON.stringify({ nonce, issuedAt: new Date(now()).toISOString() }) }
      }),
    signIn: (body, caller) =>
      counted('sign-in', async () =>
        describeTokens(await signIn.signIn(readSignInRequest(body, maxJsonDepth), caller)),
      ),
    refresh: (body, caller) =>
      counted('refresh', async () =>
        describeTokens(await signIn.refresh(readRefreshRequest(body, maxJsonDepth), caller)),
      ),
    signOut: ({ id }, caller) => counted('sign-out', () => signIn.signOut(id, caller)),
    describe({ account, tokenEndMs, isHolder }) {
      const [, chain, address] = account.split(':') as [string, string, string]
      const chainId = chain === '0' ? null : Number(chain)
      const own = tiers.tierOf({ isHolder })
      const hourly = { requestsPerHour: requestsPerHour[own], addressRequestsPerHour }
      const limits = { tier: own, ...hourly, scopes: DEFAULT_SCOPES, maxKeys }
      const expiresAt = new Date(tokenEndMs).toISOString()
      return { json: JSON.stringify({ account, address: checksumAddress(address), chainId, ...limits, expiresAt }) }
    },
    listKeys: (session, caller) => orUnavailable(KEYS, () => keysOf(session, caller).list()),
    addKey: (session, body, caller) =>
      orUnavailable(KEYS, () =>
        keysOf(session, caller).add({
          scopes: DEFAULT_SCOPES,
          ...readAccountKeyRequest(body, maxJsonDepth, now()),
          tier,
        }),
      ),
    rotateKey: (session, id, query, caller) => orUnavailable(KEYS, () => keysOf(session, caller).rotate(id, query)),
    revokeKey: (session, id, caller) => orUnavailable(KEYS, () => keysOf(session, caller).revoke(id)),
  }
}

function describeTokens(tokens: NewTokens): ServiceResponse {
  return { json: JSON.stringify(tokens) }
}

type SignInConfig = Pick<Config, 'signIn' | 'signInDomains' | 'requireApiKey' | 'records' | 'production' | 'publicUrl'>

/**
 * Returns the domains for which wallets may sign.
 *
 * @returns undefined if the sign-in is off; `loopback` for this machine with any port
 * @throws {ConfigError} if `SIGN_IN=1` needs another setting
 */
export function signInDomains(config: SignInConfig): readonly string[] | 'loopback' | undefined {
  const { signIn, signInDomains, requireApiKey, records, production, publicUrl } = config
  if (signIn === false || (signIn === undefined && requireApiKey)) return undefined
  const fail = (reason: string) => {
    if (signIn === true) throw new ConfigError(`SIGN_IN=1 ${reason}`)
    return undefined
  }
  if (!records) return fail('stores sessions in the database: remove RECORDS=0')
  if (signInDomains.length > 0) return signInDomains.map(readDomain)
  if (publicUrl !== undefined) return [new URL(publicUrl).host]
  return production ? fail('needs SIGN_IN_DOMAINS or PUBLIC_URL in production') : 'loopback'
}

function readDomain(text: string): string {
  const url = URL.canParse(`https://${text}`) ? new URL(`https://${text}`) : undefined
  // A URL without a path, name and query has the host only, in lower case and in ASCII.
  if (url !== undefined && url.href === `https://${text.toLowerCase()}/`) return url.host
  throw new ConfigError(
    `SIGN_IN_DOMAINS: ${JSON.stringify(text)} is not a host with or without a port, such as example.org`,
  )
}
