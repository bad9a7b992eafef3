import { BlockList, isIP } from 'node:net'
import { judgeCountry } from '../countries/locate.ts'
import type { CheckCollector, PluginContext, VerifyPlugin } from '../plugin.ts'
import { printable, readNumber, readSignal, readText } from '../signals.ts'

/**
 * Networks that are not reachable from the internet (IANA special-purpose registries), so their addresses have no
 * location.
 */
const NOT_ROUTABLE = toBlockList([
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.88.99.0/24',
  '192.168.0.0/16 198.18.0.0/15 224.0.0.0/4 240.0.0.0/4',
  '::/128 ::1/128 64:ff9b:1::/48 100::/64 2001::/23 2002::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8',
])
const GLOBAL_IPV6 = toBlockList(['2000::/3'])
const IPV4_MAPPED = toBlockList(['::ffff:0:0/96'])
/** IPv6 addresses that a translator maps to IPv4 (RFC 6052). */
const TRANSLATED = toBlockList(['64:ff9b::/96'])
/** Networks reserved for documentation, which tests and fixtures often use. */
const DOCUMENTATION = toBlockList(['192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20'])

/** The position that a database gives for the IP address of the network connection. */
export const ipGeolocation: VerifyPlugin = {
  name: 'ip-geolocation',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'Position looked up for an IP address',
  pointOnly: true,
  accuracyMeters: (signals) => readNumber(signals, 'accuracyMeters'),
  maxAccuracyMeters: () => 1_000_000,
  check(context, checks) {
    const { signals } = context
    const ip = (readText(signals, 'ip') ?? '').trim()
    const family = isIP(ip)
    // The address is personal data: it is checked, but never repeated in the response.
    if (checks.fail('ip-syntax', family !== 0, family === 0 ? 'malformed' : `IPv${family}`, 'IPv4 or IPv6')) {
      const plain = unmapIpv4(ip)
      const kind = isIP(plain) === 4 ? 'ipv4' : 'ipv6'
      const isExample = DOCUMENTATION.check(plain, kind)
      checks.warn('documentation-ip', !isExample, isExample, false)
      const isPrivate = !isExample && !isRoutable(plain, kind)
      checks.fail('non-routable-ip', !isPrivate, isPrivate, false)
    }
    const accuracy = readNumber(signals, 'accuracyMeters')
    const isPossible = accuracy !== undefined && accuracy >= 1000 && accuracy <= 5_000_000
    checks.fail('accuracy', isPossible, printable(readSignal(signals, 'accuracyMeters')), '1000..5000000')
    const country = readSignal(signals, 'country')
    if (country !== undefined) {
      checks.warn(
        'country-code',
        typeof country === 'string' && /^[A-Z]{2}$/.test(country),
        printable(country),
        'ISO 3166-1',
      )
    }
    return typeof country === 'string' ? checkCountry(context, country, accuracy ?? 0, checks) : {}
  },
}

/** Checks that the country contains the position. Both come from one row of the database, so they must agree. */
function checkCountry(
  { point, distanceMeters }: PluginContext,
  code: string,
  accuracy: number,
  checks: CheckCollector,
) {
  const verdict = point === undefined ? undefined : judgeCountry(code, point, distanceMeters)
  if (verdict === undefined) {
    checks.info('country-outline-unknown', code)
    return {}
  }
  if (verdict.verdict === 'cannot-tell') checks.info('country-outline-cannot-tell', verdict.distanceMeters)
  else {
    const isNear = verdict.verdict === 'inside' || verdict.distanceMeters <= accuracy
    checks.warn('country-outline', isNear, verdict.distanceMeters, accuracy)
  }
  return { country: verdict }
}

/** @param lines networks in CIDR notation, separated by spaces */
function toBlockList(lines: readonly string[]): BlockList {
  const list = new BlockList()
  for (const network of lines.join(' ').split(' ')) {
    const [address, bits] = network.split('/') as [string, string]
    list.addSubnet(address, Number(bits), isIP(address) === 4 ? 'ipv4' : 'ipv6')
  }
  return list
}

/**
 * Returns whether an address is reachable from the internet. Reachable IPv6 addresses are in 2000::/3, the only range
 * that is assigned, or embed an IPv4 address.
 */
function isRoutable(ip: string, kind: 'ipv4' | 'ipv6'): boolean {
  if (kind === 'ipv4') return !NOT_ROUTABLE.check(ip, kind)
  const embedded = translatedIpv4(ip)
  if (embedded !== undefined) return !NOT_ROUTABLE.check(embedded, 'ipv4')
  return (GLOBAL_IPV6.check(ip, kind) || IPV4_MAPPED.check(ip, kind)) && !NOT_ROUTABLE.check(ip, kind)
}

/** Returns the IPv4 address that a translator (RFC 6052, 64:ff9b::/96) maps this address to. */
function translatedIpv4(ip: string): string | undefined {
  if (!TRANSLATED.check(ip, 'ipv6')) return undefined
  const { hostname } = new URL(`http://[${ip.replace(/%.*$/, '')}]`)
  const words = hostname.slice(1, -1).replace('64:ff9b::', '').split(':')
  const [high, low] =
    words.length === 1 ? [0, Number.parseInt(words[0] || '0', 16)] : words.map((word) => Number.parseInt(word, 16))
  return [high! >> 8, high! & 0xff, low! >> 8, low! & 0xff].join('.')
}

/** Returns the IPv4 address of an IPv4-mapped IPv6 address; other addresses unchanged. */
function unmapIpv4(ip: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? ip
}
