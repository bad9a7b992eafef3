import type { ProblemData } from '../../base/problem.ts'
import type { UsedCosts } from '../access/client-limits.ts'
import type { CostWindow } from '../access/cost-limit.ts'
import type { RateStatus, Subject } from '../access/rate-limit.ts'
import type { HeaderBlock, ResponseData } from '../transport/port.ts'
import { headerBlock, problemResponse, type ResponseContext } from './respond.ts'

/** What the refusals of one client have in common. The text of a refusal changes only if one of these does. */
export interface RefusalFacts {
  readonly subject: Subject
  readonly problem: ProblemData
  readonly rate: RateStatus
  readonly costs: UsedCosts
  /** Unix seconds. */
  readonly seconds: number
  readonly path: string
  readonly errorTypeBase: string
}

interface Prepared {
  readonly facts: RefusalFacts
  readonly usedCosts: number
  readonly status: number
  readonly headers: HeaderBlock
  /** The body up to the request id, which is the last member of a problem, and the rest. Problems of the record API have no request id. */
  readonly bodyStart: string
  readonly bodyEnd: string | undefined
}

/** Maximum number of clients whose refusals are cached. */
const MAX_PREPARED = 1000

/**
 * Makes the responses to requests that are refused in an overload. Most refusals of a client differ only in their request id, so
 * all other text is prepared.
 */
export class Refusals {
  readonly #prepared = new Map<Subject, Prepared>()

  /**
   * @param describe returns the context of the response; called only if the last refusal of this client differs
   * @returns the response; its body has the members of `problemResponse`
   */
  respond(
    requestId: string,
    facts: RefusalFacts,
    describe: () => Omit<ResponseContext, 'requestId'>,
  ): ResponseData<string> {
    const known = this.#prepared.get(facts.subject)
    const prepared = known !== undefined && isCurrent(known, facts) ? known : this.#prepare(facts, describe())
    const { status, headers, bodyStart, bodyEnd } = prepared
    const body = bodyEnd === undefined ? bodyStart : bodyStart + requestId + bodyEnd
    return { status, headers, fields: ['X-Request-Id', requestId], body }
  }

  #prepare(facts: RefusalFacts, context: Omit<ResponseContext, 'requestId'>): Prepared {
    const { status, headers, fields, body } = problemResponse({ ...context, requestId: '' }, facts.problem)
    const lines: [string, string][] = []
    const pairs = [...headers.pairs, ...fields.slice(2)]
    for (let index = 0; index < pairs.length; index += 2) lines.push([pairs[index]!, pairs[index + 1]!])
    const bodyEnd = body.endsWith('"requestId":""}') ? '"}' : undefined
    const prepared = {
      facts,
      usedCosts: totalOf(facts.costs),
      status,
      headers: headerBlock(lines),
      bodyStart: body.slice(0, body.length - (bodyEnd ?? '').length),
      bodyEnd,
    }
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear()
    this.#prepared.set(facts.subject, prepared)
    return prepared
  }
}

function totalOf({ window, addressWindow }: UsedCosts): number {
  return (window?.total ?? 0) + (addressWindow?.total ?? 0)
}

function isSameHour(one: CostWindow | undefined, other: CostWindow | undefined): boolean {
  return one?.endSeconds === other?.endSeconds && one?.budget === other?.budget
}

function isCurrent({ facts, usedCosts }: Prepared, now: RefusalFacts): boolean {
  return (
    facts.seconds === now.seconds &&
    facts.rate.limit === now.rate.limit &&
    facts.rate.remaining === now.rate.remaining &&
    facts.rate.resetSeconds === now.rate.resetSeconds &&
    facts.rate.ofAddress === now.rate.ofAddress &&
    isSameHour(facts.costs.window, now.costs.window) &&
    isSameHour(facts.costs.addressWindow, now.costs.addressWindow) &&
    usedCosts === totalOf(now.costs) &&
    facts.problem === now.problem &&
    facts.path === now.path &&
    facts.errorTypeBase === now.errorTypeBase
  )
}
