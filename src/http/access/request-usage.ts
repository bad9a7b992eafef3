/** Counts requests, and what they cost, for the API key that sent them. */
import type { CostMeter, Resource } from '../../base/cost.ts'
import type { UsageRecorder } from '../../service/usage/usage-recorder.ts'
import { PUBLIC_SUBJECT, type SHARED_KINDS } from '../../wire/usage-messages.ts'
import type { Route } from '../routes/route.ts'
import type { KeyHolder } from './api-keys.ts'

/** Counts the usage of all subjects. */
export class UsageMeter {
  readonly #recorder: UsageRecorder
  readonly #other: number
  readonly #kinds = new Map<Route, number>()

  constructor(recorder: UsageRecorder, routes: readonly Route[]) {
    this.#recorder = recorder
    this.#other = recorder.kind('other')
    for (const route of routes) this.#kinds.set(route, recorder.kind(usageKind(route)))
  }

  /** Begins to count a request. @param costs what else is charged for it */
  begin(holder: KeyHolder | 'invalid' | undefined, route: Route, atMs: number, costs: CostMeter): RequestUsage {
    return new RequestUsage(this.#recorder, subjectOf(holder), this.#kinds.get(route) ?? this.#other, atMs, costs)
  }

  /** Counts a response to a request that was not begun. */
  count(holder: KeyHolder | 'invalid' | undefined, route: Route | undefined, atMs: number, status: number): void {
    const kind = (route === undefined ? undefined : this.#kinds.get(route)) ?? this.#other
    this.#recorder.counts.add(subjectOf(holder), kind, atMs, status < 400 ? operationsOf(route) : 0, 0, 0, 0, status)
  }
}

function subjectOf(holder: KeyHolder | 'invalid' | undefined): string {
  return typeof holder === 'object' ? holder.subject : PUBLIC_SUBJECT
}

/** Operations of a request that succeeds. Batches count their items. */
function operationsOf(route: Route | undefined): number {
  const isOperation = route?.method === 'POST' && route.stream === undefined
  return isOperation && (route.scope === 'compute' || route.scope === 'verify') ? 1 : 0
}

/** Returns the kind of requests to a route: the name of its compute operation, or one of `SHARED_KINDS`. */
export function usageKind({ path, scope }: Pick<Route, 'path' | 'scope'>): string | (typeof SHARED_KINDS)[number] {
  if (scope === 'compute') return path.slice(path.lastIndexOf('/') + 1)
  if (path.startsWith('/graphql')) return 'graphql'
  return scope === 'verify' || scope === 'jobs' || scope === 'records' ? scope : 'other'
}

/**
 * What one request costs. It is counted at the end of the request, and what is charged later is counted at once. The day is that of the
 * beginning of the request.
 */
export class RequestUsage implements CostMeter {
  readonly #recorder: UsageRecorder
  readonly #subject: string
  readonly #kind: number
  readonly #atMs: number
  readonly #costs: CostMeter
  #bytes = 0
  #vertices = 0
  #cpuMs = 0
  #operations = 0
  #isFinished = false

  constructor(recorder: UsageRecorder, subject: string, kind: number, atMs: number, costs: CostMeter) {
    this.#recorder = recorder
    this.#subject = subject
    this.#kind = kind
    this.#atMs = atMs
    this.#costs = costs
  }

  charge(resource: Resource, amount: number): void {
    this.#costs.charge(resource, amount)
    if (resource === 'cpu-ms') this.#cpuMs += amount
    else if (resource === 'bytes') this.#bytes += amount
    else this.#vertices += amount
    // A long stream is counted while it goes on.
    if (this.#isFinished || this.#bytes > 2 ** 24 || this.#vertices > 2 ** 20 || this.#cpuMs > 1000) this.#count(0)
  }

  /** Counts items of a batch that have a result. */
  addOperations(operations: number): void {
    this.#operations += operations
    if (this.#isFinished) this.#count(0)
  }

  finish(route: Route | undefined, status: number): void {
    this.#isFinished = true
    if (status < 400) this.#operations += operationsOf(route)
    this.#count(status)
  }

  #count(status: number): void {
    const { counts } = this.#recorder
    counts.add(
      this.#subject,
      this.#kind,
      this.#atMs,
      this.#operations,
      this.#bytes,
      this.#vertices,
      this.#cpuMs,
      status,
    )
    this.#bytes = this.#vertices = this.#cpuMs = this.#operations = 0
  }
}
