/**
 * The hourly limits that a client has to keep: its own, and for an account of a wallet also those of its network address (decision 151).
 * Wallets cost nothing, so one machine could otherwise open any number of accounts, each with the limits of its tier.
 */
import type { CostMeter } from '../../base/cost.ts'
import { HourTable } from '../../base/hour-table.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import {
  type CostBudget,
  CostLimiter,
  type CostWindow,
  costProblem,
  createBudgets,
  PairMeter,
  policiesOf,
  remainingField,
  StreamMeter,
} from './cost-limit.ts'
import {
  type LimitName,
  RateLimiter,
  type RateStatus,
  rateStatus,
  type Subject,
  takeQuota,
  takeQuotas,
  tighterRate,
} from './rate-limit.ts'
import type { CountSharing } from './shared-counts.ts'

/** Who has to keep limits, and which. */
export interface LimitedClient {
  readonly subject: Subject
  /** Requests per hour. */
  readonly limit: number
  readonly budget: CostBudget
  /** Subject of the network address of an account of a wallet; undefined for every other client. */
  readonly walletAddress: string | undefined
}

/** What a client and its network address have used of their budgets; undefined if nothing was charged yet. */
export interface UsedCosts {
  readonly window: CostWindow | undefined
  readonly addressWindow: CostWindow | undefined
}

/** Counts the requests and the costs of all clients. */
export class ClientLimits {
  readonly budgets: Readonly<Record<LimitName, CostBudget>>
  readonly #requests: RateLimiter
  readonly #costs: CostLimiter

  /**
   * @param shares what other processes or nodes count, if there are several
   * @param now milliseconds since the epoch
   */
  constructor(
    config: Pick<Config, 'costPerHour' | 'requestsPerHour' | 'walletAddress'> & {
      readonly limits: Pick<Config['limits'], 'maxRateLimitSubjects'>
    },
    metrics: Metrics,
    now: () => number,
    shares?: CountSharing,
  ) {
    this.budgets = createBudgets(config, metrics)
    const table = new HourTable(config.limits.maxRateLimitSubjects)
    this.#requests = new RateLimiter(table, shares)
    this.#costs = new CostLimiter(table, shares)
    shares?.listen((counts) => (counts.kind === 'requests' ? this.#requests : this.#costs).receive(counts, now()))
  }

  /** Takes requests from the quotas of a client. @returns how many were granted; a promise if other nodes have to be asked */
  take({ subject, limit, walletAddress }: LimitedClient, requests: number, nowMs: number): number | Promise<number> {
    const window = this.#requests.open(subject, nowMs)
    if (walletAddress === undefined) return takeQuota(window, limit, requests)
    const address = { window: this.#requests.open(walletAddress, nowMs), limit: this.#addressBudget.requests }
    return takeQuotas({ window, limit }, address, requests)
  }

  /** Returns the tighter of the limits of a client. Begins no window. */
  rate({ subject, limit, walletAddress }: LimitedClient, nowMs: number): RateStatus {
    const own = rateStatus(this.#requests.peek(subject, nowMs), limit, nowMs)
    if (walletAddress === undefined) return own
    const window = this.#requests.peek(walletAddress, nowMs)
    return tighterRate(own, rateStatus(window, this.#addressBudget.requests, nowMs))
  }

  /** Returns the meter of a request, which begins the windows that it charges. */
  meter(client: LimitedClient, nowMs: number): CostMeter {
    const window = this.#costs.open(client.subject, client.budget, nowMs)
    if (client.walletAddress === undefined) return window
    return new PairMeter(window, this.#costs.open(client.walletAddress, this.#addressBudget, nowMs))
  }

  /** Returns the meter of a stream. It charges each amount to the hour in which it is used. */
  streamMeter(client: LimitedClient, now: () => number): CostMeter {
    return new StreamMeter(() => this.meter(client, now()))
  }

  /** Returns what was charged. Begins no window. */
  costs({ subject, budget, walletAddress }: Omit<LimitedClient, 'limit'>, nowMs: number): UsedCosts {
    return {
      window: this.#costs.peek(subject, budget, nowMs),
      addressWindow:
        walletAddress === undefined ? undefined : this.#costs.peek(walletAddress, this.#addressBudget, nowMs),
    }
  }

  /**
   * Returns the problem of requests or items whose client has used up a budget, and counts them; undefined while some of each is left.
   *
   * @param counted what is rejected: one request, or a number of items
   */
  costProblem(client: LimitedClient, nowMs: number, counted: 'request' | number): ProblemData | undefined {
    const { window, addressWindow } = this.costs(client, nowMs)
    const used = window?.usedUp(client.budget)
    const addressUsed = addressWindow?.usedUp(this.#addressBudget)
    if (used === undefined && addressUsed === undefined) return undefined
    // If both are used up, the one that lasts longer is named, so that the client does not try again too early.
    const isAddress =
      addressUsed !== undefined && (used === undefined || addressWindow!.endSeconds > window!.endSeconds)
    const entry = (isAddress ? addressUsed : used)!
    if (counted === 'request') entry.rejected.count++
    else entry.rejectedItems.count += counted
    return isAddress
      ? costProblem(this.#addressBudget, addressWindow!, entry, nowMs)
      : costProblem(client.budget, window!, entry, nowMs)
  }

  /** Returns the value of `RateLimit-Policy`. */
  policies({ budget, limit, walletAddress }: Pick<LimitedClient, 'budget' | 'limit' | 'walletAddress'>): string {
    const own = policiesOf(budget, limit)
    return walletAddress === undefined ? own : `${own}, ${this.#addressBudget.policies}`
  }

  /** Returns the value of `RateLimit`. */
  remaining(rate: RateStatus, budget: CostBudget, { window, addressWindow }: UsedCosts, nowMs: number): string {
    return remainingField(rate, budget, window, nowMs, addressWindow)
  }

  get #addressBudget(): CostBudget {
    return this.budgets['wallet-address']
  }
}
