import { randomBytes } from 'node:crypto'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import { LOCAL_CALLER, type SubmissionCaller } from '../../service/request.ts'
import type { SessionState } from '../../wire/account-messages.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { ResponseContext } from '../routes/respond.ts'
import type { Route, RouteRequest } from '../routes/route.ts'
import type { Exchange } from '../transport/port.ts'
import type { RequestHead } from '../transport/request-head.ts'
import type { KeyHolder } from './api-keys.ts'
import type { AddressKey } from './caller.ts'
import type { ClientLimits, LimitedClient, UsedCosts } from './client-limits.ts'
import type { CostBudget } from './cost-limit.ts'
import {
  type HintedClient,
  type LimitName,
  type RateStatus,
  rateStatus,
  type Subject,
  walletAddressSubject,
} from './rate-limit.ts'
import type { RequestUsage } from './request-usage.ts'
import type { UnreadToken } from './session-tokens.ts'
import { TOKEN_METADATA_PATH } from './tokens.ts'

const NO_COSTS: UsedCosts = { window: undefined, addressWindow: undefined }

/** The state of a request in flight: everything that its response needs. */
export class RequestState implements ResponseContext, RouteRequest, LimitedClient {
  readonly exchange: Exchange
  readonly requestId: string
  readonly nowMs: number
  readonly #config: Config
  #holder: KeyHolder | 'invalid' | undefined
  #subject: Subject
  #walletAddress: string | undefined
  readonly #limits: ClientLimits
  /** undefined until the window was read. */
  knownRate: RateStatus | undefined = undefined
  /** What the client has used; undefined until the windows were read. */
  knownCosts: UsedCosts | undefined = undefined
  /** Set if other nodes have to be asked for the quota of the request: resolves with the reason to reject it. */
  admission: Promise<ProblemData | undefined> | undefined = undefined
  /** Why the token of the request is not valid; undefined if that is not the problem. */
  tokenProblem: ProblemData | undefined
  /** Token of a session that this process does not know yet. */
  readonly unread: UnreadToken | undefined
  /** Subject of the address; set if the holder is found only after the transport may have forgotten the address. */
  addressSubject: AddressKey | undefined = undefined
  /** True if the request has a valid key, for which it does not count. A session is no key: it cannot open another. */
  hasDroppedKey = false
  route: Route | undefined = undefined
  /** Value of `Allow` if the path does not support the method. */
  allow: string | undefined = undefined
  parameter = ''
  /** What the request cost; undefined if nobody counts it. */
  usage: RequestUsage | undefined = undefined
  /** Called when the client disconnects during a stream. */
  onDisconnect: (() => void) | undefined = undefined

  constructor(
    exchange: Exchange,
    config: Config,
    limits: ClientLimits,
    facts: {
      readonly requestId: string
      readonly nowMs: number
      readonly holder: KeyHolder | 'invalid' | undefined
      readonly subject: Subject
      readonly walletAddress: string | undefined
      readonly tokenProblem: ProblemData | undefined
      readonly unread: UnreadToken | undefined
    },
  ) {
    this.exchange = exchange
    this.#config = config
    this.#limits = limits
    this.requestId = facts.requestId
    this.nowMs = facts.nowMs
    this.#holder = facts.holder
    this.#subject = facts.subject
    this.#walletAddress = facts.walletAddress
    this.tokenProblem = facts.tokenProblem
    this.unread = facts.unread
  }

  /** Holder of the request's valid key; `invalid` for a wrong key; undefined without a key. */
  get holder(): KeyHolder | 'invalid' | undefined {
    return this.#holder
  }

  /** Subject of the rate limit: the key, else this machine (`LOCAL_CALLER`), else the address. */
  get subject(): Subject {
    return this.#subject
  }

  get walletAddress(): string | undefined {
    return this.#walletAddress
  }

  /** Counts the request as one without a key: its key must not be used for it, or does not matter. */
  dropKey(addressSubject: Subject): void {
    this.hasDroppedKey = typeof this.#holder === 'object' && this.#holder.session === undefined
    this.#holder = undefined
    this.#subject = addressSubject
    this.#walletAddress = undefined
    this.exchange.client = addressSubject
  }

  /** Counts the request for the holder of its token. */
  identify(holder: KeyHolder): void {
    this.#holder = holder
    this.#subject = holder.subject
    if (holder.isWallet && this.addressSubject !== undefined)
      this.#walletAddress = walletAddressSubject(this.addressSubject)
    this.exchange.client = holder.subject
  }

  get session(): SessionState | undefined {
    return typeof this.#holder === 'object' ? this.#holder.session : undefined
  }

  get tier(): Tier {
    return tierOf(this.holder, this.subject)
  }

  get limit(): number {
    return limitOf(this.#config, this.tier, this.holder)
  }

  /** True if the key has a limit that replaces that of its tier. */
  get hasOwnLimit(): boolean {
    return typeof this.holder === 'object' && this.holder.requestsPerHour !== undefined
  }

  /** @param signInPage where a caller without a key can make one; undefined if wallets cannot sign in */
  hintedClient(signInPage: string | undefined): HintedClient {
    const { holder, hasOwnLimit } = this
    const isWallet = typeof holder === 'object' && holder.isWallet
    return { hasOwnLimit, isWallet, signInPage, holders: this.#config.walletTierToken }
  }

  /** State of the limit; the full quota if the window was not read, as for a subject without a window. */
  get rate(): RateStatus {
    return this.knownRate ?? rateStatus(undefined, this.limit, this.nowMs)
  }

  /** The limit of requests that is reported. */
  get limitName(): LimitName {
    return this.rate.ofAddress === true ? 'wallet-address' : this.tier
  }

  get budget(): CostBudget {
    return this.#limits.budgets[this.tier]
  }

  get policies(): string {
    return this.#limits.policies(this)
  }

  get remaining(): string {
    return this.#limits.remaining(this.rate, this.budget, this.knownCosts ?? NO_COSTS, this.nowMs)
  }

  get caller(): SubmissionCaller {
    const { holder, tier, exchange } = this
    const account = typeof holder === 'object' ? holder.subject : undefined
    return { account, walletAddress: this.#walletAddress, tier, idempotencyKey: exchange.head.idempotencyKey }
  }

  get path(): string {
    return this.exchange.path
  }

  get baseUrl(): string {
    return resolveBaseUrl(this.#config, this.exchange.head)
  }

  get tokenMetadataUrl(): string | undefined {
    return this.#config.tokens && `${this.baseUrl}${TOKEN_METADATA_PATH}`
  }

  get errorTypeBase(): string {
    return errorTypeBase(this.#config, this.exchange.head)
  }
}

/** Returns whose jobs and geometries a request may see: those of its key or, in development, those of this machine (decision 133). */
export function ownerOf({ caller, exchange }: Pick<RequestState, 'caller' | 'exchange'>): string | undefined {
  return caller.account ?? (exchange.client === LOCAL_CALLER ? LOCAL_CALLER : undefined)
}

/** Returns the tier of a caller, by the holder of its key and the subject of its rate limit. */
export function tierOf(holder: KeyHolder | 'invalid' | undefined, subject: Subject): Tier {
  if (typeof holder === 'object') return holder.tier
  return subject === LOCAL_CALLER ? 'internal' : 'public'
}

/** Returns the hourly limit of requests: that of the key, or else of the tier. */
export function limitOf({ requestsPerHour }: Config, tier: Tier, holder: KeyHolder | 'invalid' | undefined): number {
  return (typeof holder === 'object' ? holder.requestsPerHour : undefined) ?? requestsPerHour[tier]
}

/** Returns the prefix of problem type URIs. */
export function errorTypeBase(config: Config, head: RequestHead | undefined): string {
  return config.errorTypeBase ?? `${resolveBaseUrl(config, head)}/errors`
}

/** Returns `PUBLIC_URL`, or a URL with the client's Host if that is safe to use in one, else with the configured address. */
export function resolveBaseUrl(config: Config, head: RequestHead | undefined): string {
  if (config.publicUrl !== undefined) return config.publicUrl
  const host = head?.host
  return host !== undefined && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host)
    ? `http://${host}`
    : `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
}

/** Returns true if a client's own id may be used: 1–64 letters, digits and hyphens, which cannot forge a log line. */
export function isRequestId(text: string | undefined): text is string {
  if (text === undefined || text.length === 0 || text.length > 64) return false
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    const isDigit = code >= 0x30 && code <= 0x39
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a
    if (!isDigit && !isLetter && code !== 0x2d) return false
  }
  return true
}

/** The bytes 0 to 255 in hexadecimal. */
const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'))

/**
 * Returns a generator of request ids. They are unique for 2³² requests of this process, show no order, and cost a fifth of a
 * random UUID.
 */
export function createRequestIds(): () => string {
  const prefix = `${randomBytes(6).toString('hex')}-`
  const mask = randomBytes(4).readUInt32LE()
  let count = 0
  return () => {
    // Multiplying by an odd number permutes the 32-bit integers, so no value repeats.
    count = (count + 1) | 0
    const value = Math.imul(count, 0x9e3779b1) ^ mask
    // From a table, because `toString` of a number takes longer than all other steps together.
    return prefix + HEX[value >>> 24]! + HEX[(value >>> 16) & 0xff]! + HEX[(value >>> 8) & 0xff]! + HEX[value & 0xff]!
  }
}
