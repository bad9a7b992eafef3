import { HourObjects, type HourTable, REQUESTS } from '../../base/hour-table.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { WalletTierToken } from '../../config/sign-in.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { Counts } from '../../wire/process-messages.ts'
import type { AddressKey } from './caller.ts'
import type { CountSharing, RequestGrants, SharedCount } from './shared-counts.ts'

/** Key under which requests are counted together: an address key, `key:` and the digest of an API key, `account:` and an account, or `LOCAL_CALLER`. */
export type Subject = number | string

/** What a limit is for: the clients of a tier, or all accounts of wallets that send from one network address (decision 151). */
export type LimitName = Tier | 'wallet-address'
export const LIMIT_NAMES: readonly LimitName[] = ['public', 'developer', 'internal', 'wallet-address']

/** The subject of all accounts of wallets that send from one network address. */
export function walletAddressSubject(address: AddressKey): string {
  return `wallets:${address}`
}

/** The current hour of one subject. */
export interface RateWindow {
  /** Requests counted, at most the limit. */
  used: number
  /** Unix seconds; the window has expired from then on. */
  endSeconds: number
  /** Set if several processes count together. */
  shared?: SharedCount
  /** Set if several nodes count together. */
  grants?: RequestGrants
}

export const WINDOW_SECONDS = 3600

/** Returns the end of a window that begins now. It begins at the start of the second, so that the reported reset time is exact. */
export function windowEnd(nowMs: number): number {
  return Math.floor(nowMs / 1000) + WINDOW_SECONDS
}

/** The window of a subject whose requests nobody else counts, in its row of the table. */
class RowWindow implements RateWindow {
  readonly endSeconds: number
  readonly #table: HourTable
  readonly #row: number
  readonly #owner: number

  constructor(table: HourTable, row: number) {
    this.#table = table
    this.#row = row
    this.#owner = table.ownerOf(row)
    this.endSeconds = table.endSeconds(row, REQUESTS)
  }

  get used(): number {
    return this.#isKnown ? this.#table.count(this.#row) : 0
  }

  set used(requests: number) {
    if (this.#isKnown) this.#table.setCount(this.#row, requests)
  }

  /** False if the table has forgotten the subject, because it is full. */
  get #isKnown(): boolean {
    return this.#table.ownerOf(this.#row) === this.#owner
  }
}

/** Counts requests in windows of one hour, each beginning with its subject's first request (decision 91). */
export class RateLimiter {
  readonly #table: HourTable
  readonly #shares: CountSharing | undefined
  /** The windows, if other processes or nodes count too. What is shared refers to them. */
  readonly #shared: HourObjects<RateWindow>

  /** @param shares what other processes or nodes count, if there are several */
  constructor(table: HourTable, shares?: CountSharing) {
    this.#table = table
    this.#shares = shares
    this.#shared = new HourObjects(table, REQUESTS)
  }

  /** Returns the current window of a subject; undefined if there is none. Begins no window. */
  peek(subject: Subject, nowMs: number): RateWindow | undefined {
    if (this.#shares !== undefined) return this.#shared.peek(subject, nowMs)
    const row = this.#table.findOpen(subject, REQUESTS, nowMs)
    return row === 0 ? undefined : new RowWindow(this.#table, row)
  }

  /** Returns the current window of a subject; begins one if there is none. */
  open(subject: Subject, nowMs: number): RateWindow {
    const known = this.peek(subject, nowMs)
    if (known !== undefined) return known
    const endSeconds = windowEnd(nowMs)
    if (this.#shares === undefined) {
      const row = this.#table.begin(subject, REQUESTS, endSeconds, nowMs)
      this.#table.setCount(row, 0)
      return new RowWindow(this.#table, row)
    }
    const window: RateWindow = { used: 0, endSeconds }
    if (this.#shares.grants !== undefined) window.grants = this.#shares.grants(subject, window)
    else window.shared = this.#shares.share('requests', subject, endSeconds, 1)
    return this.#shared.begin(subject, nowMs, window)
  }

  /** Receives the counts of other processes. */
  receive({ subject, endSeconds, amounts }: Counts, nowMs: number): void {
    const window = this.#shared.peek(subject, nowMs)
    if (window?.shared === undefined) return
    window.used += window.shared.grow(amounts)[0]!
    window.endSeconds = endSeconds
    window.shared.endSeconds = endSeconds
  }
}

/** Takes requests from the quota of a window. @returns how many were granted; a promise if other nodes have to be asked */
export function takeQuota(window: RateWindow, limit: number, requests: number): number | Promise<number> {
  return window.grants === undefined ? takeOwnQuota(window, limit, requests) : window.grants.take(requests, limit)
}

/** As `takeQuota`, for a window that other nodes do not share. */
export function takeOwnQuota(window: RateWindow, limit: number, requests: number): number {
  const granted = Math.max(0, Math.min(requests, limit - window.used))
  window.used += granted
  // The others learn of the hour also if nothing is granted, so that it ends at the same time everywhere.
  window.shared?.add(0, granted, limit)
  return granted
}

/** A window and its limit. */
export interface Quota {
  readonly window: RateWindow
  readonly limit: number
}

/**
 * Takes requests of an account from its own quota and from that of its network address, so that what one of them rejects does not count in
 * the other. The address is asked only for what the account may have: an account that has reached its limit takes nothing from others.
 *
 * @returns how many were granted; a promise if other nodes have to be asked
 */
export function takeQuotas(account: Quota, address: Quota, requests: number): number | Promise<number> {
  const accountGrants = account.window.grants
  const addressGrants = address.window.grants
  if (accountGrants === undefined || addressGrants === undefined) {
    const rooms = [account, address].map(({ window, limit }) => limit - window.used)
    const fitting = Math.max(0, Math.min(requests, ...rooms))
    takeOwnQuota(account.window, account.limit, fitting)
    return takeOwnQuota(address.window, address.limit, fitting)
  }
  const takeFromAddress = (granted: number): number | Promise<number> => {
    if (granted === 0) return 0
    const settle = (fromAddress: number) => {
      accountGrants.giveBack(granted - fromAddress)
      return fromAddress
    }
    const fromAddress = addressGrants.take(granted, address.limit)
    return typeof fromAddress === 'number' ? settle(fromAddress) : fromAddress.then(settle)
  }
  const granted = takeSettled(accountGrants, account.limit, requests)
  const taken = typeof granted === 'number' ? takeFromAddress(granted) : granted.then(takeFromAddress)
  if (typeof taken !== 'number') addUnsettled(accountGrants, taken)
  return taken
}

/** Ends when all requests of an account have ended whose address is being asked. Some of them may be given back. */
const unsettled = new WeakMap<RequestGrants, Promise<unknown>>()

function addUnsettled(grants: RequestGrants, taken: Promise<number>): void {
  const all = Promise.allSettled([unsettled.get(grants), taken]).finally(() => {
    if (unsettled.get(grants) === all) unsettled.delete(grants)
  })
  unsettled.set(grants, all)
}

/** Takes requests from the quota of an account. Before it rejects one, it waits for those that may be given back. */
function takeSettled(grants: RequestGrants, limit: number, requests: number): number | Promise<number> {
  const others = unsettled.get(grants)
  const settle = async (granted: number) => {
    if (granted === requests) return granted
    await others
    return granted + (await grants.take(requests - granted, limit))
  }
  const granted = grants.take(requests, limit)
  if (others === undefined) return granted
  return typeof granted === 'number' && granted === requests ? granted : Promise.resolve(granted).then(settle)
}

/** Where a client reads how long to wait: a rejected request has `Retry-After`, a rejected batch item does not. */
const WAIT_HINTS = {
  answer: 'Retry-After has the seconds to wait',
  item: 'X-RateLimit-Reset has the Unix seconds when the hour ends',
} as const

/** How a caller of each tier can get a higher limit. */
const HIGHER_LIMIT_HINTS: Readonly<Record<LimitName, string>> = {
  public:
    'on the machine of the service, "trigpoint keys add developer" creates an API key with a higher limit; RATE_LIMIT_PUBLIC sets the limit without a key',
  developer:
    'on the machine of the service, "trigpoint keys add internal" creates a key with a higher limit; RATE_LIMIT_DEVELOPER sets the limit of this one',
  internal:
    'RATE_LIMIT_INTERNAL of the service sets this limit: to raise it, start the service again with RATE_LIMIT_INTERNAL=1000000, for example',
  'wallet-address':
    'RATE_LIMIT_WALLET_ADDRESS of the service sets this limit; keys that the operator makes do not count towards it',
}

/** How the account of a wallet can get a higher limit. Only the operator could follow the hints above. */
const WALLET_HINT =
  'ask the operator of the service for a key with a higher limit; all keys of an account share this one'

/** What decides how a client can get a higher limit. */
export interface HintedClient {
  /** True if the limit is that of the key and not of its tier. */
  readonly hasOwnLimit?: boolean
  /** True for a key or a session of an account of a wallet. */
  readonly isWallet?: boolean
  /** Where a caller without a key can make one; undefined if wallets cannot sign in. */
  readonly signInPage?: string | undefined
  /** What a wallet has to hold for a higher tier; undefined if all have the same tier. */
  readonly holders?: WalletTierToken | undefined
}

const OWN_LIMIT_HINT = 'this key has a limit of its own: the operator of the service can make a key with a higher one'

/**
 * Returns the problem for requests that exceed the hourly limit.
 *
 * @param name of the limit: only callers without a key get the hint to send one
 * @param client whose limit it is
 */
export function rateLimitProblem(
  limit: number,
  name: LimitName,
  rejected: keyof typeof WAIT_HINTS,
  client: HintedClient = {},
): ProblemData {
  const reached = `the limit of ${limit} requests per hour${sharersOf(name)} is reached`
  const more =
    name === 'public' && client.isWallet !== true
      ? ', and an API key (X-API-Key or Authorization: Bearer) raises the limit'
      : ''
  return {
    type: 'rate-limited',
    detail: `${reached}; ${WAIT_HINTS[rejected]}${more}`,
    invalidParts: [{ pointer: '#', detail: reached, code: 'limit', hint: higherLimitHint(name, client) }],
  }
}

function higherLimitHint(name: LimitName, client: HintedClient): string {
  const { hasOwnLimit, isWallet, signInPage, holders } = client
  if (hasOwnLimit === true) return OWN_LIMIT_HINT
  if (isWallet === true && name !== 'wallet-address') {
    const canHoldMore = holders !== undefined && holders.tier !== name
    return canHoldMore
      ? `a wallet that holds the ${holders.proof.kind} that this service asks for gets the tier ${holders.tier} when it signs in; without it, ${WALLET_HINT}`
      : WALLET_HINT
  }
  if (name !== 'public' || signInPage === undefined) return HIGHER_LIMIT_HINTS[name]
  return `sign in with a wallet at ${signInPage} and create an API key with a higher limit`
}

/** Says who shares a limit, if others than the client do. */
export function sharersOf(name: LimitName): string {
  return name === 'wallet-address' ? ' of all wallet accounts at one network address' : ''
}

/** Seconds after which a client may try again while the database that counts for all nodes does not answer. */
const AWAY_RETRY_SECONDS = 5

/** Returns the problem for requests beyond the share of a node while the database that counts for all nodes does not answer. */
export function uncountedProblem(limit: number): ProblemData {
  const detail = `the database that counts requests for all nodes does not answer, and this node has answered its share of ${limit} requests per hour; Retry-After has the seconds to wait`
  const hint = 'SHARED_LIMIT_EXCESS_PERCENT of the service sets this share'
  return {
    type: 'rate-limited',
    detail,
    invalidParts: [{ pointer: '#', detail, code: 'limit', hint }],
    retryAfterSeconds: AWAY_RETRY_SECONDS,
  }
}

/** The state of the limit for the response headers. */
export interface RateStatus {
  limit: number
  remaining: number
  /** Unix seconds. */
  resetSeconds: number
  /** True if it is the limit of the network address, and not that of the account. */
  ofAddress?: boolean
}

/** Returns the limit of which less remains; if that is equal, the one that lasts longer, so that a client does not try again too early. */
export function tighterRate(account: RateStatus, address: RateStatus): RateStatus {
  const difference = account.remaining - address.remaining
  const isAddress = difference === 0 ? address.resetSeconds > account.resetSeconds : difference > 0
  return isAddress ? { ...address, ofAddress: true } : account
}

/** @param window undefined if nothing was counted yet: an hour would begin now */
export function rateStatus(window: RateWindow | undefined, limit: number, nowMs: number): RateStatus {
  return window === undefined
    ? { limit, remaining: limit, resetSeconds: windowEnd(nowMs) }
    : { limit, remaining: Math.max(0, limit - window.used), resetSeconds: window.endSeconds }
}

/** Returns the seconds until the reset, at least 0, for `Retry-After` and `RateLimit-Reset`. */
export function secondsUntil(resetSeconds: number, nowMs: number): number {
  return Math.max(0, resetSeconds - Math.floor(nowMs / 1000))
}
