import { readRange } from '../base/ip-address.ts'
import { problemAt } from '../base/problem.ts'
import type { StoredKey, Tier } from '../wire/key-messages.ts'
import { parseJsonObject } from './json-body.ts'
import { getValidator } from './schemas.ts'
import { check } from './sentences.ts'

/** Properties of an API key to create. */
export type KeyProperties = Omit<StoredKey, 'id' | 'sha256' | 'tier' | 'createdAt' | 'replacedBy' | 'owner'> & {
  readonly tier: Tier
}

/**
 * Reads the properties of a new API key from the body of a request.
 *
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readKeyRequest(body: Uint8Array, maxDepth: number, nowMs: number): KeyProperties {
  return checkKeyProperties(parseJsonObject(body, maxDepth), nowMs)
}

/**
 * Returns the properties of a new API key in their normal form: times in UTC, origins as a browser sends them.
 *
 * @throws {ProblemError} `invalid-input`
 */
export function checkKeyProperties(value: unknown, nowMs: number): KeyProperties {
  check(getValidator('key.schema.json#/$defs/KeyRequest'), value, [])
  const { tier, ...properties } = value as Partial<KeyProperties> & Pick<KeyProperties, 'tier'>
  return { tier, ...normalForm(properties, nowMs) }
}

/** Properties of an API key that an account creates. Its tier is that of the account. */
export type AccountKeyProperties = Omit<KeyProperties, 'tier'>

/**
 * Reads the properties of a new API key of an account from the body of a request.
 *
 * @throws {ProblemError} `bad-request` or `invalid-input`
 */
export function readAccountKeyRequest(body: Uint8Array, maxDepth: number, nowMs: number): AccountKeyProperties {
  const value = parseJsonObject(body, maxDepth)
  check(getValidator('account.schema.json#/$defs/AccountKeyRequest'), value, [])
  return normalForm(value as Partial<AccountKeyProperties>, nowMs)
}

function normalForm(value: Partial<AccountKeyProperties>, nowMs: number): AccountKeyProperties {
  const { expiresAt, origins, addresses, scopes, ...properties } = value
  for (const [index, address] of (addresses ?? []).entries()) checkAddressRange(address, index)
  return {
    label: 'unnamed',
    ...properties,
    ...(scopes === undefined ? {} : { scopes: [...new Set(scopes)] }),
    ...(expiresAt === undefined ? {} : { expiresAt: readExpiry(expiresAt, nowMs) }),
    ...(origins === undefined ? {} : { origins: origins.map(readOrigin) }),
    ...(addresses === undefined ? {} : { addresses }),
  }
}

const ISO_TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/

function readExpiry(text: string, nowMs: number): string {
  const timeMs = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN
  const rule = { code: 'time', hint: 'write a time such as 2030-12-31T00:00:00Z' }
  if (Number.isNaN(timeMs)) throw problemAt('invalid-input', ['expiresAt'], 'is not an ISO 8601 time', rule)
  if (timeMs <= nowMs) throw problemAt('invalid-input', ['expiresAt'], 'is not in the future', rule)
  return new Date(timeMs).toISOString()
}

function readOrigin(text: string, index: number): string {
  const url = URL.canParse(text) ? new URL(text) : undefined
  const isOrigin = url !== undefined && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`
  if (isOrigin && !text.endsWith('/')) return url.origin
  const rule = {
    code: 'origin',
    hint: 'write the origin of a page, such as https://example.org or http://localhost:8080',
  }
  throw problemAt('invalid-input', ['origins', index], 'is not an origin', rule)
}

function checkAddressRange(text: string, index: number): void {
  const range = readRange(text)
  // An IPv4 address is written in its own form only: in that of IPv6, the length of a prefix would have two meanings.
  const isMapped = range?.bytes.length === 4 && text.includes(':')
  if (range !== undefined && !isMapped) return
  const rule = { code: 'address', hint: 'write an address such as 192.0.2.7, or a range such as 192.0.2.0/24' }
  throw problemAt('invalid-input', ['addresses', index], 'is neither an IP address nor a CIDR range', rule)
}
