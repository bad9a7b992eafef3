import type { DeviceTrust } from '../../messages.ts'
import { anchorsOf, NO_DEVICE_TRUST } from './trust.ts'

const LISTS = [
  'androidRoots',
  'appleRoots',
  'androidPackages',
  'androidSigners',
  'appleAppIds',
  'pgpFingerprints',
] as const

/**
 * What an operator's file says about devices: the members of `DeviceTrust`, each optional, as JSON; instead of
 * `revokedSerials` also `revoked`, the maker's own status list (`{"entries": {"<serial>": {"status": "REVOKED"}}}`).
 *
 * @throws {TypeError} naming what is wrong with it
 */
export function readDeviceTrust(text: string): DeviceTrust {
  const settings = parse(text)
  const known = [...LISTS, 'revokedSerials', 'revoked', 'allowDevelopmentApps']
  const unknown = Object.keys(settings).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`${unknown}: no such member; there are ${known.join(', ')}`)
  const lists = Object.fromEntries(LISTS.map((name) => [name, textsOf(settings, name)]))
  const allowDevelopmentApps = settings['allowDevelopmentApps'] ?? false
  if (typeof allowDevelopmentApps !== 'boolean') throw new TypeError('allowDevelopmentApps: must be true or false')
  const serials = [...textsOf(settings, 'revokedSerials'), ...entriesOf(settings['revoked'])]
  const trust: DeviceTrust = {
    ...NO_DEVICE_TRUST,
    ...lists,
    allowDevelopmentApps,
    revokedSerials: serials.map((serial) => normalized(serial, 'revokedSerials', /^[0-9a-f]{1,64}$/i).toLowerCase()),
    androidSigners: textsOf(settings, 'androidSigners').map((digest) =>
      normalized(digest, 'androidSigners', /^[0-9a-f]{64}$/i).toLowerCase(),
    ),
    pgpFingerprints: textsOf(settings, 'pgpFingerprints').map((fingerprint) =>
      normalized(fingerprint, 'pgpFingerprints', /^[0-9a-f]{40}$/i).toUpperCase(),
    ),
  }
  anchorsOf('android', trust.androidRoots)
  anchorsOf('apple', trust.appleRoots)
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

function textsOf(settings: Record<string, unknown>, name: string): string[] {
  const value = settings[name] ?? []
  if (!Array.isArray(value) || value.some((entry) => typeof entry !== 'string' || entry === '')) {
    throw new TypeError(`${name}: must be a list of texts`)
  }
  return value as string[]
}

/** A suspended certificate counts as revoked. */
function entriesOf(revoked: unknown): string[] {
  if (revoked === undefined) return []
  const entries =
    typeof revoked === 'object' && revoked !== null ? (revoked as { entries?: unknown }).entries : undefined
  if (typeof entries !== 'object' || entries === null) throw new TypeError('revoked: must have a member entries')
  return Object.keys(entries)
}

function normalized(value: string, name: string, form: RegExp): string {
  const digits = value.replace(/^0x/i, '').replace(/[\s:]/g, '')
  if (!form.test(digits)) throw new TypeError(`${name}: ${JSON.stringify(value.slice(0, 80))} is not of hex digits`)
  return name === 'revokedSerials' ? digits.replace(/^0+(?=.)/, '') : digits
}
