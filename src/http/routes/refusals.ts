import type { ProblemData } from '../../base/problem.ts'
import type { CostWindow } from '../access/cost-limit.ts'
import type { RateWindow, Subject } from '../access/rate-limit.ts'
import type { HeaderBlock, ResponseData } from '../transport/port.ts'
import { headerBlock, problemResponse, type ResponseContext } from './respond.ts'

/** What the refusals of one client have in common. The text of a refusal changes only if one of these does. */
export interface RefusalFacts {
  readonly subject: Subject
  readonly problem: ProblemData
  readonly window: RateWindow | undefined
  readonly costs: CostWindow | undefined
  /** Unix seconds. */
  readonly seconds: number
  readonly path: string
  readonly errorTypeBase: string
}

interface Prepared {
  readonly facts: RefusalFacts
  readonly usedRequests: number
  readonly usedCosts: number
  readonly status: number
  readonly headers: HeaderBlock
  /** The body up to the request id, which is the last member of a problem. */
  readonly bodyStart: string
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
    const { status, headers, bodyStart } = prepared
    return { status, headers, fields: ['X-Request-Id', requestId], body: `${bodyStart}${requestId}"}` }
  }

  #prepare(facts: RefusalFacts, context: Omit<ResponseContext, 'requestId'>): Prepared {
    const { status, headers, fields, body } = problemResponse({ ...context, requestId: '' }, facts.problem)
    const lines: [string, string][] = []
    const pairs = [...headers.pairs, ...fields.slice(2)]
    for (let index = 0; index < pairs.length; index += 2) lines.push([pairs[index]!, pairs[index + 1]!])
    const prepared = {
      facts,
      usedRequests: facts.window?.used ?? 0,
      usedCosts: facts.costs?.total ?? 0,
      status,
      headers: headerBlock(lines),
      bodyStart: body.slice(0, -'"}'.length),
    }
    if (this.#prepared.size >= MAX_PREPARED) this.#prepared.clear()
    this.#prepared.set(facts.subject, prepared)
    return prepared
  }
}

function isCurrent({ facts, usedRequests, usedCosts }: Prepared, now: RefusalFacts): boolean {
  return (
    facts.seconds === now.seconds &&
    facts.window === now.window &&
    usedRequests === (now.window?.used ?? 0) &&
    facts.costs === now.costs &&
    usedCosts === (now.costs?.total ?? 0) &&
    facts.problem === now.problem &&
    facts.path === now.path &&
    facts.errorTypeBase === now.errorTypeBase
  )
}
