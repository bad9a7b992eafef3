import { createHash, timingSafeEqual } from 'node:crypto'
import type { Config } from '../config.ts'
import type { ProblemData } from '../problem.ts'
import { isInside, isLoopback, parseAddress, parseRanges } from './client-address.ts'
import type { Exchange } from './port.ts'
import type { RequestHead } from './request-head.ts'

const FORBIDDEN: ProblemData = {
  type: 'forbidden',
  message: 'Forbidden',
  detail:
    'this route is for the deployment itself: ask from its machine without a proxy, from an address of SYNC_ALLOW, or with CRON_SECRET as a bearer token',
}

/**
 * Who may use the routes that are kept for this deployment (decision 85): whoever has the secret; an address that the operator
 * named; and, as long as nothing says that others reach this service, its own machine. A request that somebody passed on,
 * that a page of another origin made, or that came by another name than ours proves nothing by its address.
 *
 * @returns the refusal of a request, to be asked before `HttpHandler.handle` returns
 * @throws {ConfigError} on a `SYNC_ALLOW` that is no list of addresses
 */
export function createInternalCheck(
  config: Pick<Config, 'production' | 'publicUrl' | 'trustedProxies' | 'syncAllow' | 'cronSecret'>,
): (exchange: Exchange) => ProblemData | undefined {
  const allowed = parseRanges(config.syncAllow, 'SYNC_ALLOW')
  const publicHost = publicHostOf(config)
  const isBehindSomething = publicHost !== undefined && !isLoopbackHost(publicHost)
  const trustsLoopback = !config.production && config.trustedProxies.length === 0 && !isBehindSomething
  const secret = config.cronSecret === undefined ? undefined : digest(`Bearer ${config.cronSecret}`)

  return (exchange) => {
    const { authorization, host = '' } = exchange.head
    if (secret !== undefined && authorization !== undefined && timingSafeEqual(digest(authorization), secret))
      return undefined
    if (trustsLoopback && isFromThisMachine(exchange, publicHost)) return undefined
    // A name may lead anywhere by the next look-up; an address leads where it says.
    const isOurs = isOurName(host, publicHost) || parseAddress(nameOf(host)) !== undefined
    return isOurs && isDirect(exchange.head) && isInside(plain(exchange.peer), allowed) ? undefined : FORBIDDEN
  }
}

/**
 * A request of a program on this machine: by a loopback address and a name of this machine, without a proxy, and from no
 * page of another origin. The name matters because a page may be led here by a name of its own (DNS rebinding).
 *
 * @param publicHost of `PUBLIC_URL`, if there is one
 */
export function isFromThisMachine({ head, peer }: Pick<Exchange, 'head' | 'peer'>, publicHost?: string): boolean {
  return isDirect(head) && isLoopback(peer) && isOurName(head.host ?? '', publicHost)
}

/** `host:port` of `PUBLIC_URL`. */
function publicHostOf({ publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  return publicUrl === undefined ? undefined : new URL(publicUrl).host
}

function isDirect({ isForwarded, origin, host = '' }: RequestHead): boolean {
  return !isForwarded && (origin === undefined || hostOf(origin) === host)
}

function isOurName(host: string, publicHost: string | undefined): boolean {
  return host === publicHost || isLoopbackHost(host)
}

/** Of equal length whatever was sent, so that comparing takes the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** `name:port`, `[::1]:port` → the name. */
function nameOf(host: string): string {
  return /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, '')
}

function isLoopbackHost(host: string): boolean {
  const name = nameOf(host).toLowerCase()
  if (name === 'localhost') return true
  const address = parseAddress(name)
  return address !== undefined && isLoopback(address)
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}

function plain(peer: Uint8Array): Uint8Array {
  const isMapped =
    peer.length === 16 && peer[10] === 0xff && peer[11] === 0xff && peer.subarray(0, 10).every((byte) => byte === 0)
  return isMapped ? peer.subarray(12) : peer
}
