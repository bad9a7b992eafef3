import type { Config, Tier } from '../config.ts'
import type { SubmissionCaller } from '../service/services.ts'
import type { KeyHolder } from './api-keys.ts'
import type { Exchange } from './port.ts'
import { type RateStatus, rateStatus, type Subject } from './rate-limit.ts'
import type { RequestHead } from './request-head.ts'
import type { AnswerContext } from './respond.ts'
import type { Route, RouteRequest } from './routes.ts'

/** What is known of a request while it is in flight: everything its answer needs. */
export class RequestState implements AnswerContext, RouteRequest {
  readonly exchange: Exchange
  readonly requestId: string
  readonly nowMs: number
  readonly #config: Config
  /** The valid key it came with, or what is wrong with it. */
  readonly holder: KeyHolder | 'invalid' | undefined
  /** Whose window counts: the key's, else the address's. */
  readonly subject: Subject
  /** undefined until somebody looked at the window. */
  knownRate: RateStatus | undefined = undefined
  route: Route | undefined = undefined
  /** Value of `Allow` when the method was wrong. */
  allow: string | undefined = undefined
  parameter = ''
  /** Called when the client leaves a stream. */
  onGone: (() => void) | undefined = undefined

  constructor(
    exchange: Exchange,
    config: Config,
    facts: {
      readonly requestId: string
      readonly nowMs: number
      readonly holder: KeyHolder | 'invalid' | undefined
      readonly subject: Subject
    },
  ) {
    this.exchange = exchange
    this.#config = config
    this.requestId = facts.requestId
    this.nowMs = facts.nowMs
    this.holder = facts.holder
    this.subject = facts.subject
  }

  get tier(): Tier {
    return typeof this.holder === 'object' ? this.holder.tier : 'public'
  }

  get limit(): number {
    return this.#config.requestsPerHour[this.tier]
  }

  /** A full hour when nobody looked: what a subject without a window has. */
  get rate(): RateStatus {
    return this.knownRate ?? rateStatus(undefined, this.limit, this.nowMs)
  }

  get caller(): SubmissionCaller {
    const { holder, tier, exchange } = this
    const account = typeof holder === 'object' ? holder.subject : undefined
    return { account, tier, idempotencyKey: exchange.head.idempotencyKey }
  }

  get path(): string {
    return this.exchange.path
  }

  get baseUrl(): string {
    return baseUrlOf(this.#config, this.exchange.head)
  }

  get errorTypeBase(): string {
    return this.#config.errorTypeBase ?? `${this.baseUrl}/errors`
  }
}

/** `PUBLIC_URL`, or the host the client named when it can stand in an address. */
export function baseUrlOf(config: Config, head: RequestHead | undefined): string {
  if (config.publicUrl !== undefined) return config.publicUrl
  const host = head?.host
  return host !== undefined && /^[A-Za-z0-9._:[\]-]{1,255}$/.test(host)
    ? `http://${host}`
    : `http://${config.host.includes(':') ? `[${config.host}]` : config.host}:${config.port}`
}
