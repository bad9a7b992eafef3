import {
  booleanOf,
  childrenOf,
  type DerElement,
  DerError,
  ENUMERATED,
  expectTag,
  INTEGER,
  OCTET_STRING,
  readDer,
  SEQUENCE,
  SET,
  smallIntegerOf,
} from './der.ts'

/** The extension in which Android describes the key that a certificate is for. */
export const KEY_DESCRIPTION = '1.3.6.1.4.1.11129.2.1.17'

export const SECURITY_LEVELS = ['software', 'trusted-environment', 'strongbox'] as const
export type SecurityLevel = (typeof SECURITY_LEVELS)[number]
/** Android's boot states green, yellow, orange and red. */
export const BOOT_STATES = ['verified', 'self-signed', 'unverified', 'failed'] as const
const ORIGINS = ['generated', 'derived', 'imported', 'reserved', 'securely-imported'] as const

/** What the device says of itself and the key. What only its system software says stands in `claimed…`. */
export interface KeyDescription {
  readonly version: number
  /** Who wrote the statement. */
  readonly attestationLevel: SecurityLevel
  /** Who keeps the key. */
  readonly keyLevel: SecurityLevel
  readonly challenge: Uint8Array
  /** As enforced by the secure hardware. */
  readonly origin: (typeof ORIGINS)[number] | undefined
  readonly isDeviceLocked: boolean | undefined
  readonly bootState: (typeof BOOT_STATES)[number] | undefined
  /** YYYYMM or YYYYMMDD. */
  readonly patchLevel: number | undefined
  readonly claimedPackages: readonly string[]
  /** SHA-256 of the certificates that signed those packages, lower-case hex: anybody can build an app of any name. */
  readonly claimedSigners: readonly string[]
}

/** Tags of the authorization list. */
const ORIGIN = 702
const ROOT_OF_TRUST = 704
const OS_PATCH_LEVEL = 706
const APPLICATION_ID = 709

/**
 * The KeyDescription of Android key attestation, versions 1 to 400.
 *
 * @param extension the bytes that the extension's OCTET STRING holds
 * @throws {DerError} on anything else
 * @see https://source.android.com/docs/security/features/keystore/attestation
 */
export function readKeyDescription(extension: Uint8Array): KeyDescription {
  const fields = childrenOf(expectTag(readDer(extension), SEQUENCE))
  if (fields.length !== 8) throw new DerError(`a description of ${fields.length} fields`)
  const [version, attestationLevel, , keyLevel, challenge, , software, hardware] = fields
  const claimed = authorizationsOf(software)
  const enforced = authorizationsOf(hardware)
  const origin = enforced.get(ORIGIN)
  const root = enforced.get(ROOT_OF_TRUST)
  const [, locked, state] = root === undefined ? [] : childrenOf(expectTag(root, SEQUENCE))
  const patchLevel = enforced.get(OS_PATCH_LEVEL)
  const application = claimed.get(APPLICATION_ID)
  return {
    version: smallIntegerOf(version),
    attestationLevel: named(SECURITY_LEVELS, smallIntegerOf(attestationLevel, ENUMERATED)),
    keyLevel: named(SECURITY_LEVELS, smallIntegerOf(keyLevel, ENUMERATED)),
    challenge: expectTag(challenge, OCTET_STRING).content,
    origin: origin === undefined ? undefined : named(ORIGINS, smallIntegerOf(origin)),
    isDeviceLocked: root === undefined ? undefined : booleanOf(locked),
    bootState: root === undefined ? undefined : named(BOOT_STATES, smallIntegerOf(state, ENUMERATED)),
    patchLevel: patchLevel === undefined ? undefined : smallIntegerOf(expectTag(patchLevel, INTEGER)),
    ...(application === undefined
      ? { claimedPackages: [], claimedSigners: [] }
      : applicationOf(expectTag(application, OCTET_STRING).content)),
  }
}

/** The list's members by tag, each without its explicit wrapper. */
function authorizationsOf(list: DerElement | undefined): Map<number, DerElement> {
  const members = new Map<number, DerElement>()
  for (const member of childrenOf(expectTag(list, SEQUENCE))) {
    const [value, ...others] = childrenOf(member)
    if (member.tagClass !== 2 || value === undefined || others.length > 0 || members.has(member.tag)) {
      throw new DerError(`a malformed or repeated authorization ${member.tag}`)
    }
    members.set(member.tag, value)
  }
  return members
}

/** AttestationApplicationId: the packages that share the key's owner, by name and version, and who signed them. */
function applicationOf(bytes: Uint8Array): Pick<KeyDescription, 'claimedPackages' | 'claimedSigners'> {
  const [packages, digests] = childrenOf(expectTag(readDer(bytes), SEQUENCE))
  return {
    claimedPackages: childrenOf(expectTag(packages, SET)).map((entry) => {
      const [name] = childrenOf(expectTag(entry, SEQUENCE))
      const { content } = expectTag(name, OCTET_STRING)
      return Buffer.from(content.subarray(0, 200)).toString('latin1')
    }),
    claimedSigners: childrenOf(expectTag(digests, SET)).map((digest) =>
      Buffer.from(expectTag(digest, OCTET_STRING).content).toString('hex'),
    ),
  }
}

function named<const T extends readonly string[]>(names: T, index: number): T[number] {
  const name = names[index]
  if (name === undefined) throw new DerError(`an unknown value ${index}`)
  return name
}
