import { createHash, timingSafeEqual } from 'node:crypto'
import { parseAddress, unmapIpv4 } from '../../base/ip-address.ts'
import type { ProblemData } from '../../base/problem.ts'
import type { Config } from '../../config/config.ts'
import type { Exchange } from '../transport/port.ts'
import type { RequestHead } from '../transport/request-head.ts'
import { isInRanges, isLoopback, parseRanges } from './caller.ts'

const FORBIDDEN: ProblemData = {
  type: 'forbidden',
  message: 'Forbidden',
  detail:
    'this route is internal: call it with CRON_SECRET as a bearer token, from an address in SYNC_ALLOW, or, outside production, from the same machine without a proxy',
}

/** The settings that show whether other machines can reach the service. */
type ReachSettings = Pick<Config, 'production' | 'publicUrl' | 'trustedProxies'>

/**
 * Decides who may use the internal routes (decision 85): clients with the secret; addresses that the operator listed; and the
 * service's own machine, unless a setting shows that others can reach the service. The address proves nothing if the request
 * was forwarded, was made by a page of another origin, or names another host.
 *
 * @returns a function that returns the problem of a request that is not allowed; call it before `HttpHandler.handle` returns
 * @throws {ConfigError} if `SYNC_ALLOW` is not a list of addresses
 */
export function createInternalCheck(
  config: ReachSettings & Pick<Config, 'syncAllow' | 'cronSecret'>,
): (exchange: Exchange) => ProblemData | undefined {
  const allowed = parseRanges(config.syncAllow, 'SYNC_ALLOW')
  const publicHost = readPublicHost(config)
  const isLocalCaller = createLocalCheck(config)
  const secret = config.cronSecret === undefined ? undefined : digest(`Bearer ${config.cronSecret}`)

  return (exchange) => {
    const { authorization, host = '' } = exchange.head
    if (secret !== undefined && authorization !== undefined && timingSafeEqual(digest(authorization), secret))
      return undefined
    if (isLocalCaller(exchange)) return undefined
    // A host name may resolve to any address at the next look-up; an address always means itself.
    const namesUs = isOwnHost(host, publicHost) || parseAddress(removePort(host)) !== undefined
    return namesUs && isDirect(exchange.head) && isInRanges(unmapIpv4(exchange.peer), allowed) ? undefined : FORBIDDEN
  }
}

/**
 * Returns a function that tells whether a program on the service's own machine sent a request. It returns false for every
 * request if a setting shows that others can reach the service, because a proxy on this machine may then forward their requests.
 * Call it before `HttpHandler.handle` returns.
 */
export function createLocalCheck(config: ReachSettings): (exchange: Pick<Exchange, 'head' | 'peer'>) => boolean {
  if (!mayBeLocal(config)) return () => false
  const publicHost = readPublicHost(config)
  return (exchange) => isFromThisMachine(exchange, publicHost)
}

/** Returns true if callers on this machine have a limit of their own. It never lowers a public limit that the operator raised. */
export function hasLocalTier(config: ReachSettings & Pick<Config, 'requestsPerHour'>): boolean {
  const { internal, public: publicLimit } = config.requestsPerHour
  return internal > publicLimit && mayBeLocal(config)
}

/** Returns true if the settings allow the service to recognise programs on this machine. */
function mayBeLocal(config: ReachSettings): boolean {
  const publicHost = readPublicHost(config)
  const isPublic = publicHost !== undefined && !isLoopbackHost(publicHost)
  return !config.production && config.trustedProxies.length === 0 && !isPublic
}

/**
 * Returns true for a request of a program on this machine: from a loopback address, to a name of this machine, without a
 * proxy, and not from a page of another origin. The name matters because a page can make its own host name resolve to this
 * machine (DNS rebinding).
 *
 * @param publicHost `host:port` of `PUBLIC_URL`, if it is set
 */
export function isFromThisMachine({ head, peer }: Pick<Exchange, 'head' | 'peer'>, publicHost?: string): boolean {
  return isDirect(head) && isLoopback(peer) && isOwnHost(head.host ?? '', publicHost)
}

/** Returns `host:port` of `PUBLIC_URL`. */
function readPublicHost({ publicUrl }: Pick<Config, 'publicUrl'>): string | undefined {
  return publicUrl === undefined ? undefined : new URL(publicUrl).host
}

function isDirect({ isForwarded, origin, host = '' }: RequestHead): boolean {
  return !isForwarded && (origin === undefined || originHost(origin) === host)
}

function isOwnHost(host: string, publicHost: string | undefined): boolean {
  return host === publicHost || isLoopbackHost(host)
}

/** Hashes a text to a fixed length, because a comparison in constant time needs equal lengths. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** Removes the port: `name:port` gives `name`, `[::1]:port` gives `::1`. */
function removePort(host: string): string {
  return /^\[([^\]]*)\](?::\d*)?$/.exec(host)?.[1] ?? host.replace(/:\d*$/, '')
}

function isLoopbackHost(host: string): boolean {
  const name = removePort(host).toLowerCase()
  if (name === 'localhost') return true
  const address = parseAddress(name)
  return address !== undefined && isLoopback(address)
}

function originHost(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined
}
