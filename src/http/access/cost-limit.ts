/** The budgets of each client for one hour: bytes, vertices and processor time, besides its requests (decision 143). */
import { type Amounts, type CostMeter, RESOURCES, type Resource } from '../../base/cost.ts'
import { COSTS, type HourTable } from '../../base/hour-table.ts'
import type { Metrics, Series } from '../../base/metrics.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { Tier } from '../../wire/key-messages.ts'
import type { Counts } from '../../wire/process-messages.ts'
import {
  type LimitName,
  type RateStatus,
  type Subject,
  secondsUntil,
  sharersOf,
  WINDOW_SECONDS,
  windowEnd,
} from './rate-limit.ts'
import type { CountSharing, SharedCount } from './shared-counts.ts'

/** The budget of one resource, and its counters. */
interface ResourceBudget {
  readonly resource: Resource
  /** Per hour; 0: no limit. */
  readonly limit: number
  readonly charged: Series
  readonly rejected: Series
  readonly rejectedItems: Series
}

/** The budgets of the clients of one tier, or of all accounts of wallets at one network address. */
export interface CostBudget {
  readonly name: LimitName
  /** Put before the names of its limits in `RateLimit-Policy` and `RateLimit`. */
  readonly prefix: string
  readonly byResource: Readonly<Record<Resource, ResourceBudget>>
  /** Those that have a limit. */
  readonly limited: readonly ResourceBudget[]
  /** Requests per hour. */
  readonly requests: number
  /** Value of the header `RateLimit-Policy`, for clients with the limit of the tier. */
  readonly policies: string
}

/** Units of the IETF draft. Without one, a policy would count requests. */
const UNITS: Readonly<Record<Resource, string>> = { bytes: 'content-bytes', vertices: 'vertices', 'cpu-ms': 'cpu-ms' }

/** Creates all budgets from their settings, and the counters of what is charged and rejected. */
export function createBudgets(
  { costPerHour, requestsPerHour, walletAddress }: Pick<Config, 'costPerHour' | 'requestsPerHour' | 'walletAddress'>,
  metrics: Metrics,
): Readonly<Record<LimitName, CostBudget>> {
  const charged = metrics.counter('cost_charged_total', 'Bytes, vertices and milliseconds charged to clients')
  const rejected = metrics.counter('cost_rejected_total', 'Requests rejected because an hourly budget was used up')
  const rejectedItems = metrics.counter(
    'cost_rejected_items_total',
    'Batch items rejected because an hourly budget was used up',
  )
  const budget = (name: LimitName, costs: Amounts, requests: number): CostBudget => {
    const isAddress = name === 'wallet-address'
    const prefix = isAddress ? 'address-' : ''
    const budgets = RESOURCES.map((resource): ResourceBudget => {
      const labels = { tier: name, resource }
      return {
        resource,
        limit: costs[resource],
        // What an account uses is counted for its tier, and must not be counted a second time for its address.
        charged: isAddress ? { count: 0 } : charged.series(labels),
        rejected: rejected.series(labels),
        rejectedItems: rejectedItems.series(labels),
      }
    })
    const limited = budgets.filter(({ limit }) => limit > 0)
    const policies = [
      requestPolicy(requests, prefix),
      ...limited.map(
        ({ resource, limit }) => `"${prefix}${resource}";q=${limit};qu="${UNITS[resource]}";w=${WINDOW_SECONDS}`,
      ),
    ].join(', ')
    const byResource = Object.fromEntries(budgets.map((entry) => [entry.resource, entry]))
    return { name, prefix, byResource: byResource as Record<Resource, ResourceBudget>, limited, requests, policies }
  }
  const ofTier = (tier: Tier) => budget(tier, costPerHour[tier], requestsPerHour[tier])
  return {
    public: ofTier('public'),
    developer: ofTier('developer'),
    internal: ofTier('internal'),
    'wallet-address': budget('wallet-address', walletAddress.costPerHour, walletAddress.requestsPerHour),
  }
}

function requestPolicy(requests: number, prefix = ''): string {
  return `"${prefix}requests";q=${requests};w=${WINDOW_SECONDS}`
}

/** Returns the value of `RateLimit-Policy` for a client with its own limit of requests per hour. */
export function policiesOf({ requests, policies }: CostBudget, limit: number): string {
  return limit === requests ? policies : requestPolicy(limit) + policies.slice(requestPolicy(requests).length)
}

/** The places of the resources in the rows of the table and in what is shared. */
const BYTES = RESOURCES.indexOf('bytes')
const VERTICES = RESOURCES.indexOf('vertices')
const CPU_MS = RESOURCES.indexOf('cpu-ms')

/** What one client has used in its current hour, in its row of the table. */
export class CostWindow implements CostMeter {
  /** That of the request, whose metrics are charged. */
  readonly budget: CostBudget
  /** Unix seconds; the window has expired from then on. */
  readonly endSeconds: number
  readonly #table: HourTable
  readonly #row: number
  readonly #owner: number
  /** By row; what is shared, if several processes or nodes count together. */
  readonly #shared: readonly SharedCount[]

  constructor(table: HourTable, row: number, budget: CostBudget, shared: readonly SharedCount[]) {
    this.budget = budget
    this.endSeconds = table.endSeconds(row, COSTS)
    this.#table = table
    this.#row = row
    this.#owner = table.ownerOf(row)
    this.#shared = shared
  }

  /** Charges the current hour of the client, which may have begun after the request. Only metrics count what a forgotten client uses. */
  // One branch for each resource: look-ups by name would take five times as long, for every request.
  charge(resource: Resource, amount: number): void {
    const { byResource } = this.budget
    let index = VERTICES
    if (resource === 'cpu-ms') {
      index = CPU_MS
      byResource['cpu-ms'].charged.count += amount
    } else if (resource === 'bytes') {
      index = BYTES
      byResource.bytes.charged.count += amount
    } else byResource.vertices.charged.count += amount
    if (!this.#isKnown) return
    this.#table.setAmount(this.#row, index, this.#table.amount(this.#row, index) + amount)
    const shared = this.#shared[this.#row]
    if (shared === undefined) return
    const { limit } = byResource[resource]
    if (limit > 0) shared.add(index, amount, limit)
  }

  used(resource: Resource): number {
    const index = resource === 'cpu-ms' ? CPU_MS : resource === 'bytes' ? BYTES : VERTICES
    return this.#isKnown ? this.#table.amount(this.#row, index) : 0
  }

  /** False if the table has forgotten the client, because it is full or the hour has ended. */
  get #isKnown(): boolean {
    return this.#table.ownerOf(this.#row) === this.#owner
  }

  /** The sum of all that was charged, in mixed units: it has changed if anything was charged. */
  get total(): number {
    return RESOURCES.reduce((sum, resource) => sum + this.used(resource), 0)
  }

  /**
   * Returns a budget that is used up; undefined while something is left of each.
   *
   * @param budget of the request: the sessions and keys of one account may have different ones
   */
  usedUp({ limited }: CostBudget = this.budget): ResourceBudget | undefined {
    for (const entry of limited) if (this.used(entry.resource) >= entry.limit) return entry
    return undefined
  }
}

/** Holds the windows of all clients, in the same rows as `RateLimiter`. */
export class CostLimiter {
  readonly #table: HourTable
  readonly #shares: CountSharing | undefined
  /** By row; empty if nobody else counts. */
  readonly #shared: SharedCount[] = []

  /** @param shares what other processes or nodes charge, if there are several */
  constructor(table: HourTable, shares?: CountSharing) {
    this.#table = table
    this.#shares = shares
  }

  /** Receives the charges of other processes. Those count them in their own metrics. */
  receive({ subject, endSeconds, amounts }: Counts, nowMs: number): void {
    const row = this.#table.findOpen(subject, COSTS, nowMs)
    const shared = this.#shared[row]
    if (row === 0 || shared === undefined) return
    for (const [index, growth] of shared.grow(amounts).entries())
      this.#table.setAmount(row, index, this.#table.amount(row, index) + growth)
    // What is charged just after the end of the hour begins the next one elsewhere. These amounts end with their own hour.
    shared.endSeconds = Math.min(shared.endSeconds, endSeconds)
    this.#table.setEnd(row, COSTS, shared.endSeconds)
  }

  /** Returns the current window of a subject; undefined if there is none. Begins no window. */
  peek(subject: Subject, budget: CostBudget, nowMs: number): CostWindow | undefined {
    const row = this.#table.findOpen(subject, COSTS, nowMs)
    return row === 0 ? undefined : new CostWindow(this.#table, row, budget, this.#shared)
  }

  /** Returns the current window of a subject; begins one if there is none. */
  open(subject: Subject, budget: CostBudget, nowMs: number): CostWindow {
    return this.peek(subject, budget, nowMs) ?? this.#begin(subject, budget, nowMs)
  }

  #begin(subject: Subject, budget: CostBudget, nowMs: number): CostWindow {
    const endSeconds = windowEnd(nowMs)
    const row = this.#table.begin(subject, COSTS, endSeconds, nowMs)
    for (let index = 0; index < RESOURCES.length; index++) this.#table.setAmount(row, index, 0)
    if (this.#shares !== undefined)
      this.#shared[row] = this.#shares.share('costs', subject, endSeconds, RESOURCES.length)
    return new CostWindow(this.#table, row, budget, this.#shared)
  }
}

/** Charges what an account uses also to its network address. */
export class PairMeter implements CostMeter {
  readonly #account: CostMeter
  readonly #address: CostMeter

  constructor(account: CostMeter, address: CostMeter) {
    this.#account = account
    this.#address = address
  }

  charge(resource: Resource, amount: number): void {
    this.#account.charge(resource, amount)
    this.#address.charge(resource, amount)
  }
}

/** Charges each amount to the hour in which it is used: a stream may last longer than the hour in which it began. */
export class StreamMeter implements CostMeter {
  readonly #open: () => CostMeter

  /** @param open returns the meter of the current hour */
  constructor(open: () => CostMeter) {
    this.#open = open
  }

  charge(resource: Resource, amount: number): void {
    this.#open().charge(resource, amount)
  }
}

/** What each budget limits, as problems name it. */
const USES: Readonly<Record<Resource, string>> = {
  bytes: 'bytes of bodies and of records',
  vertices: 'vertices',
  'cpu-ms': 'milliseconds of processor time (cpu-ms)',
}

/**
 * Returns the problem of requests, or of items of a batch, whose client has used up a budget.
 *
 * @param nowMs time of the response, for `Retry-After`
 */
export function costProblem(
  { name }: CostBudget,
  { endSeconds }: CostWindow,
  { resource, limit }: ResourceBudget,
  nowMs: number,
): ProblemData {
  const reached = `the limit of ${limit} ${USES[resource]} per hour${sharersOf(name)} is reached`
  const end = new Date(endSeconds * 1000).toISOString().replace('.000', '')
  const more = name === 'public' ? ', and an API key (X-API-Key or Authorization: Bearer) raises the limit' : ''
  const hint = `COST_LIMIT_${name.toUpperCase().replace('-', '_')} of the service sets this limit`
  return {
    type: 'rate-limited',
    detail: `${reached}; the hour ends at ${end}${more}`,
    invalidParts: [{ pointer: '#', detail: reached, code: 'cost-limit', hint }],
    retryAfterSeconds: secondsUntil(endSeconds, nowMs),
  }
}

/**
 * Returns the value of the header `RateLimit`: the requests that remain, and what remains of the budget of which the smallest share
 * is left.
 *
 * @param window undefined if nothing was charged yet: an hour would begin now
 * @param addressWindow what all accounts at the network address of the client have used; undefined if that is not limited, or nothing
 */
export function remainingField(
  rate: RateStatus,
  { limited }: CostBudget,
  window: CostWindow | undefined,
  nowMs: number,
  addressWindow?: CostWindow,
): string {
  const prefix = rate.ofAddress === true ? 'address-' : ''
  const requests = `"${prefix}requests";r=${rate.remaining};t=${secondsUntil(rate.resetSeconds, nowMs)}`
  let tightest: ResourceBudget | undefined
  let smallestShare = Number.POSITIVE_INFINITY
  for (const entry of limited) {
    const share = window === undefined ? 1 : 1 - window.used(entry.resource) / entry.limit
    // If shares are equal, the last one is reported: processor time, which clients cannot count themselves.
    if (share > smallestShare) continue
    smallestShare = share
    tightest = entry
  }
  let tightestWindow = window
  if (addressWindow !== undefined)
    for (const entry of addressWindow.budget.limited) {
      const share = 1 - addressWindow.used(entry.resource) / entry.limit
      if (share >= smallestShare) continue
      smallestShare = share
      tightest = entry
      tightestWindow = addressWindow
    }
  if (tightest === undefined) return requests
  const { resource, limit } = tightest
  // Rounded up, so that 0 means that the next request is rejected.
  const remaining = tightestWindow === undefined ? limit : Math.max(0, Math.ceil(limit - tightestWindow.used(resource)))
  const seconds = tightestWindow === undefined ? WINDOW_SECONDS : secondsUntil(tightestWindow.endSeconds, nowMs)
  const budgetPrefix = tightestWindow?.budget.prefix ?? ''
  return `${requests}, "${budgetPrefix}${resource}";r=${remaining};t=${seconds}`
}
