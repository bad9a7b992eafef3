import { createPublicKey, type KeyObject, X509Certificate } from 'node:crypto'
import type { DeviceTrust } from '../../wire/compute-messages.ts'

/** The default: only the pinned roots are trusted, no app is named, nothing is revoked. */
export const NO_DEVICE_TRUST: DeviceTrust = Object.freeze({
  androidRoots: [],
  appleRoots: [],
  revokedSerials: [],
  androidPackages: [],
  androidSigners: [],
  appleAppIds: [],
  allowDevelopmentApps: false,
  pgpFingerprints: [],
})

/**
 * Google's root of hardware attestation, serialNumber=f92009e853b6b045: the RSA key of its certificates of 2016, 2019, 2021
 * and 2022. SHA-256 of these bytes: feb2ea7551ee316ed4bb443c8293b884dbfdea40b603ee3e4f4a897e4580fbae.
 */
const GOOGLE_ROOT_KEY =
  'MIICIjANBgkqhkiG9w0BAQEFAAOCAg8AMIICCgKCAgEAr7bHgiuxpwHsK7Qui8xUFmOr75gvMsd/dTEDDJdSSxtf6An7xyqpRR90' +
  'PL2abxM1dEqlXnf2tqw1Ne4Xwl5jlRfdnJLmN0pTy/4lj4/7tv0Sk3iiKkypnEUtR6WfMgH0QZfKHM1+di+y9TFRtv6y//0rb+T+' +
  'W8a9nsNL/ggjnar86461qO0rOs2cXjp3kOG1FEJ5MVmFmBGtnrKpa73XpXyTqRxB/M0n1n/W9nGqC4FSYa04T6N5RIZGBN2z2MT5' +
  'IKGbFlbC8UrW0DxW7AYImQQcHtGl/m00QLVWutHQoVJYnFPlXTcHYvASLu+RhhsbDmxMgJJ0mcDpvsC4PjvB+TxywElgS70vE0Xm' +
  'LD+OJtvsBslHZvPBKCOdT0MS+tgSOIfga+z1Z1g7+DVagf7quvmag8jfPioyKvxnK/EgsTUVi2ghzq8wm27ud/mIM7AY2qEORR8G' +
  'o3TVB4HzWQgpZrt3i5MIlCaY504LzSRiigHCzAPlHws+W0rB5N+er5/2pJKnfBSDiCiFAVtCLOZ7gLiMm0jhO2B6tUXHI/+MRPjy' +
  '02i59lINMRRev56GKtcd9qO/0kUJWdZTdA2XoS82ixPvZtXQpUpuL12ab+9EaDK8Z4RHJYYfCT3Q5vNAXaiWQ+8PTWm2QgBR/bkw' +
  'SWc+NpUFgNPN9PvQi8WEg5UmAGMCAwEAAQ=='

/**
 * Apple App Attestation Root CA, P-384, 2020 to 2045. SHA-256 of these bytes:
 * 1ae751fd29896d0f1f13fe226c063f445d40d8938acc6245c251ecc0679330bd.
 */
const APPLE_ROOT_KEY =
  'MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAERTHhmLW07ATaFQIEVwTtT4dyctdhNbJhFs/Ii2FdCgAHGbpphY3+d8qjuDngIN3WVhQU' +
  'BHAoMeQ/cLiP1sOUtgjqK9auYen1mMEvRq9Sk3Jm5X8U62H+xTD3FE9TgS41'

/** The pinned root of each maker, as DER of its SubjectPublicKeyInfo in base64. */
export const PINNED_ROOTS = { android: GOOGLE_ROOT_KEY, apple: APPLE_ROOT_KEY } as const

/** Caches of the trust anchors, by the operator's list. */
const anchorsByList = {
  android: new WeakMap<readonly string[], readonly KeyObject[]>(),
  apple: new WeakMap<readonly string[], readonly KeyObject[]>(),
}
const serialSets = new WeakMap<readonly string[], ReadonlySet<string>>()

/**
 * Returns the root keys of one maker: the pinned one and those of the operator. Each list is parsed once.
 *
 * @throws {TypeError} that names the entry which is not a key, or whose key is weak
 */
export function trustAnchors(maker: keyof typeof PINNED_ROOTS, added: readonly string[]): readonly KeyObject[] {
  const cached = anchorsByList[maker].get(added)
  if (cached !== undefined) return cached
  const pinned = createPublicKey({ key: Buffer.from(PINNED_ROOTS[maker], 'base64'), format: 'der', type: 'spki' })
  const anchors = [pinned, ...added.map(readRoot)]
  anchorsByList[maker].set(added, anchors)
  return anchors
}

/** Returns the revoked serial numbers as a set, which is made once for each list. */
export function revokedSerialSet({ revokedSerials }: DeviceTrust): ReadonlySet<string> {
  const set = serialSets.get(revokedSerials) ?? new Set(revokedSerials)
  serialSets.set(revokedSerials, set)
  return set
}

function readRoot(pem: string, index: number): KeyObject {
  try {
    const key = pem.includes('BEGIN CERTIFICATE') ? new X509Certificate(pem).publicKey : createPublicKey(pem)
    const weakness = findWeakness(key)
    if (weakness !== undefined) throw new TypeError(weakness)
    return key
  } catch (error) {
    throw new TypeError(`root ${index + 1}: ${(error as Error).message}`, { cause: error })
  }
}

const STRING_LISTS = [
  'androidRoots',
  'appleRoots',
  'androidPackages',
  'androidSigners',
  'appleAppIds',
  'pgpFingerprints',
] as const

/**
 * Parses the operator's file of trusted devices: the members of `DeviceTrust` as JSON, each optional. It may also have a
 * member `revoked`, the status list that a maker publishes (`{"entries": {"<serial>": {"status": "REVOKED"}}}`).
 *
 * @throws {TypeError} that says what is wrong with the file
 */
export function readDeviceTrust(text: string): DeviceTrust {
  const settings = parse(text)
  const known = [...STRING_LISTS, 'revokedSerials', 'revoked', 'allowDevelopmentApps']
  const unknown = Object.keys(settings).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new TypeError(`${unknown}: no such member; known members are ${known.join(', ')}`)
  const lists = Object.fromEntries(STRING_LISTS.map((name) => [name, readStrings(settings, name)]))
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

const CURVES = ['prime256v1', 'secp384r1', 'secp521r1']

/**
 * Returns why a public key is not accepted: it is too short, on an unknown curve, or so long that its arithmetic would
 * block a thread.
 *
 * @returns undefined for an RSA key of 2048 to 4096 bits, one on a NIST curve, or Ed25519
 */
export function findWeakness({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string | undefined {
  const { modulusLength = 0, namedCurve = 'unnamed', publicExponent = 0n } = asymmetricKeyDetails ?? {}
  switch (asymmetricKeyType) {
    case 'ed25519':
      return undefined
    case 'ec':
      // Only named curves. With explicit curve parameters, an attacker could make any key fit.
      return CURVES.includes(namedCurve) ? undefined : `a key on curve ${namedCurve}`
    case 'rsa':
      if (modulusLength < 2048 || modulusLength > 4096) return `an RSA key of ${modulusLength} bits`
      return publicExponent >= 3n && publicExponent <= 0xff_ff_ff_ffn
        ? undefined
        : 'an RSA key with an unusual exponent'
    default:
      return `a key of type ${asymmetricKeyType}`
  }
}
