/**
 * The tier of accounts that hold a token or an attestation (decision 152). It is found when a session is opened and when it is refreshed,
 * and stays with the token of the session. An account whose holding cannot be confirmed gets the tier of all wallets, never an error.
 */
import type { Log } from '../../base/log.ts'
import { Metrics, type Series } from '../../base/metrics.ts'
import type { WalletTierToken } from '../../config/sign-in.ts'
import type { ChainClient } from '../../threads/chain-client.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { ChainAttestation, ChainResult, Hex } from '../../wire/values.ts'

export interface WalletTierParts {
  readonly walletTier: Tier
  /** Undefined if all wallets have the same tier. */
  readonly holders: WalletTierToken | undefined
  /** Reads the chain of `holders`. */
  readonly chainClient: Pick<ChainClient, 'tokenBalance' | 'attestation'> | undefined
  /** Longest wait for the chain. */
  readonly waitMs: number
  readonly log: Pick<Log, 'warn' | 'info'>
  /** Milliseconds since the epoch. */
  readonly now: () => number
  readonly metrics: Metrics
}

export interface TierFinding {
  /** True if the account was seen to hold what gives the higher tier. */
  readonly isHolder: boolean
  /** Why it does not have the higher tier; undefined if it has, or if there is none. */
  readonly note: string | undefined
}

/** Returns the tier of a session. */
export function sessionTier(
  { walletTier, holders }: Pick<WalletTierParts, 'walletTier' | 'holders'>,
  { isHolder }: Pick<TierFinding, 'isHolder'>,
): Tier {
  return isHolder && holders !== undefined ? holders.tier : walletTier
}

const HOLDER: TierFinding = { isHolder: true, note: undefined }
/** Calls to the chain of a process at a time. */
const MAX_CALLS = 64

export class WalletTiers {
  readonly #parts: WalletTierParts
  /** Calls to the chain that have not ended. */
  #calls = 0
  /** Look-ups that callers wait for, by account and attestation: requests that a client repeats share one. */
  readonly #lookUps = new Map<string, Promise<TierFinding>>()
  #isAway = false
  readonly #outcomes: Readonly<Record<'found' | 'not-found' | 'failed', Series>>

  constructor(parts: WalletTierParts) {
    this.#parts = parts
    // Without a higher tier there are no look-ups, and the service does not print the metric.
    const metrics = parts.holders === undefined ? new Metrics() : parts.metrics
    const counter = metrics.counter('holder_lookups_total', 'Look-ups of holders of the higher tier by outcome')
    this.#outcomes = {
      found: counter.series({ outcome: 'found' }),
      'not-found': counter.series({ outcome: 'not-found' }),
      failed: counter.series({ outcome: 'failed' }),
    }
  }

  /** True if some wallets have a higher tier. */
  get hasHolders(): boolean {
    return this.#parts.holders !== undefined
  }

  tierOf(finding: Pick<TierFinding, 'isHolder'>): Tier {
    return sessionTier(this.#parts, finding)
  }

  /**
   * Finds out whether an account holds what gives the higher tier. Never rejects, and takes no longer than `waitMs`.
   *
   * @param account `eip155:<chain>:<address>` in lower case
   * @param attestation UID that the client named
   */
  async find(account: string, attestation: Hex | undefined): Promise<TierFinding> {
    const { holders } = this.#parts
    if (holders === undefined) {
      return attestation === undefined
        ? { isHolder: false, note: undefined }
        : refused('this service has no tier for attestations (WALLET_TIER_TOKEN)')
    }
    const [, chain, address] = account.split(':') as [string, string, Hex]
    // Another contract may have this address on the other chain.
    if (chain !== '0' && Number(chain) !== holders.chainId)
      return refused(
        `the account is a contract of chain ${chain}, and the tier is for holders on chain ${holders.chainId}`,
      )
    if (holders.proof.kind === 'attestation' && attestation === undefined)
      return refused('name the UID of an attestation as attestation, with the message')
    const name = `${account} ${attestation}`
    let lookUp = this.#lookUps.get(name)
    if (lookUp === undefined) {
      if (this.#calls >= MAX_CALLS) {
        this.#outcomes.failed.count++
        return refused('too many accounts are looked up now: refresh the session later')
      }
      lookUp = this.#lookUp(holders, address, attestation).finally(() => this.#lookUps.delete(name))
      this.#lookUps.set(name, lookUp)
    }
    return lookUp
  }

  async #lookUp({ chainId, proof }: WalletTierToken, address: Hex, attestation: Hex | undefined): Promise<TierFinding> {
    const { chainClient } = this.#parts
    if (chainClient === undefined) return this.#unknown('no chain has an RPC endpoint')
    if (proof.kind === 'token') {
      const balance = await this.#within(chainClient.tokenBalance(chainId, proof.token as Hex, address))
      if (!balance.ok) return this.#unknown(balance.reason)
      if (balance.value === undefined) return this.#unknown(`${proof.token} returns no balance`)
      this.#answered()
      if (balance.value >= proof.balance) return this.#found()
      return this.#notFound(
        `the account holds ${balance.value} of token ${proof.token} on chain ${chainId}, less than ${proof.balance}`,
      )
    }
    const found = await this.#within(chainClient.attestation(chainId, attestation!))
    if (!found.ok) return this.#unknown(found.reason)
    this.#answered()
    const wrong = attestationProblem(found.value, proof, address, Math.floor(this.#parts.now() / 1000))
    return wrong === undefined
      ? this.#found()
      : this.#notFound(`attestation ${attestation} on chain ${chainId} ${wrong}`)
  }

  #found(): TierFinding {
    this.#outcomes.found.count++
    return HOLDER
  }

  #notFound(note: string): TierFinding {
    this.#outcomes['not-found'].count++
    return refused(note)
  }

  /** Waits for the chain, but not longer than allowed. */
  async #within<T>(result: Promise<ChainResult<T>>): Promise<ChainResult<T>> {
    const { waitMs } = this.#parts
    let timer: NodeJS.Timeout | undefined
    const fail = (reason: string): ChainResult<T> => ({ ok: false, reason, cause: 'unreachable' })
    const late = new Promise<ChainResult<T>>((resolve) => {
      timer = setTimeout(() => resolve(fail(`no answer within ${waitMs} ms`)), waitMs)
    })
    // A call that nobody waits for any more still counts until it ends.
    this.#calls++
    const ended = result
      .catch((error: unknown) => fail(String(error)))
      .finally(() => {
        this.#calls--
      })
    try {
      return await Promise.race([ended, late])
    } finally {
      clearTimeout(timer)
    }
  }

  /** Logged once until the chain answers again, because clients decide how often they sign in. */
  #unknown(reason: string): TierFinding {
    const { holders, walletTier, log } = this.#parts
    const { chainId, tier } = holders!
    this.#outcomes.failed.count++
    if (!this.#isAway)
      log.warn(`cannot see who may have the tier ${tier}: wallets get ${walletTier}`, { chainId, reason })
    this.#isAway = true
    return refused(`chain ${chainId} cannot be asked now: refresh the session later`)
  }

  #answered(): void {
    const { holders, log } = this.#parts
    if (this.#isAway) log.info(`holders get the tier ${holders!.tier} again`, { chainId: holders!.chainId })
    this.#isAway = false
  }
}

function refused(note: string): TierFinding {
  return { isHolder: false, note }
}

/** Returns why an attestation gives no tier; undefined if it does. */
function attestationProblem(
  attestation: ChainAttestation | undefined,
  { schema, attester }: { readonly schema: string; readonly attester: string },
  address: Hex,
  nowSeconds: number,
): string | undefined {
  if (attestation === undefined) return 'does not exist'
  const { expirationTimeSeconds, revocationTimeSeconds, ...found } = attestation
  if (found.schema.toLowerCase() !== schema) return `has the schema ${found.schema}, not ${schema}`
  if (found.attester.toLowerCase() !== attester) return `is by ${found.attester}, not by ${attester}`
  if (found.recipient.toLowerCase() !== address) return `is for ${found.recipient}, not for this account`
  if (revocationTimeSeconds !== 0) return 'was revoked'
  return expirationTimeSeconds !== 0 && expirationTimeSeconds <= nowSeconds ? 'has expired' : undefined
}
