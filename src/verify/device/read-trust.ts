import type { DeviceTrust } from '../../wire/messages.ts'
import { NO_DEVICE_TRUST, trustAnchors } from './trust.ts'

const LISTS = [
  'androidRoots',
  'appleRoots',
  'androidPackages',
  'androidSigners',
  'appleAppIds',
  'pgpFingerprints',
] as const

/**
 * Reads an operator's file about devices: the members of `DeviceTrust` as JSON, each optional. Besides `revokedSerials`
 * there may be `revoked`, the maker's own status list (`{"entries": {"<serial>": {"status": "REVOKED"}}}`).
 *
 * @throws {TypeError} naming what is wrong with the file
 */
export function readDeviceTrust(text: string): DeviceTrust {
  const settings = parse(text)
  const known = [...LISTS, 'revokedSerials', 'revoked', 'allowDevelopmentApps']
  const unknown = Object.keys(settings).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`${unknown}: no such member; known members are ${known.join(', ')}`)
  const lists = Object.fromEntries(LISTS.map((name) => [name, readStrings(settings, name)]))
  const allowDevelopmentApps = settings['allowDevelopmentApps'] ?? false
  if (typeof allowDevelopmentApps !== 'boolean') throw new TypeError('allowDevelopmentApps: must be true or false')
  const serials = [...readStrings(settings, 'revokedSerials'), ...readEntries(settings['revoked'])]
  const trust: DeviceTrust = {
    ...NO_DEVICE_TRUST,
    ...lists,
    allowDevelopmentApps,
    revokedSerials: serials.map((serial) => normalizeHex(serial, 'revokedSerials', /^[0-9a-f]{1,64}$/i).toLowerCase()),
    androidSigners: readStrings(settings, 'androidSigners').map((digest) =>
      normalizeHex(digest, 'androidSigners', /^[0-9a-f]{64}$/i).toLowerCase(),
    ),
    pgpFingerprints: readStrings(settings, 'pgpFingerprints').map((fingerprint) =>
      normalizeHex(fingerprint, 'pgpFingerprints', /^[0-9a-f]{40}$/i).toUpperCase(),
    ),
  }
  trustAnchors('android', trust.androidRoots)
  trustAnchors('apple', trust.appleRoots)
  return trust
}

function parse(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new TypeError(`not JSON: ${(error as Error).message}`, { cause: error })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError('must be an object')
  return value as Record<string, unknown>
}

function readStrings(settings: Record<string, unknown>, name: string): string[] {
  const value = settings[name] ?? []
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string' || entry === '')) {
    throw new TypeError(`${name}: must be an array of strings`)
  }
  return value as string[]
}

/** Returns the serial numbers in the maker's list. Suspended certificates count as revoked. */
function readEntries(revoked: unknown): string[] {
  if (revoked === undefined) return []
  const entries =
    typeof revoked === 'object' && revoked !== null ? (revoked as { entries?: unknown }).entries : undefined
  if (typeof entries !== 'object' || entries === null) throw new TypeError('revoked: must have a member entries')
  return Object.keys(entries)
}

function normalizeHex(value: string, name: string, pattern: RegExp): string {
  const digits = value.replace(/^0x/i, '').replace(/[\s:]/g, '')
  if (!pattern.test(digits))
    throw new TypeError(`${name}: ${JSON.stringify(value.slice(0, 80))} is not the right number of hex digits`)
  return name === 'revokedSerials' ? digits.replace(/^0+(?=.)/, '') : digits
}
