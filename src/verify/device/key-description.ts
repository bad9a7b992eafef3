import {
  type DerElement,
  DerError,
  ENUMERATED,
  expectTag,
  INTEGER,
  OCTET_STRING,
  readBoolean,
  readChildren,
  readDer,
  readSmallInteger,
  SEQUENCE,
  SET,
} from './der.ts'

/** The extension in which Android describes the key of a certificate. */
export const KEY_DESCRIPTION = '1.3.6.1.4.1.11129.2.1.17'

export const SECURITY_LEVELS = ['software', 'trusted-environment', 'strongbox'] as const
export type SecurityLevel = (typeof SECURITY_LEVELS)[number]
/** Android's boot states green, yellow, orange and red. */
export const BOOT_STATES = ['verified', 'self-signed', 'unverified', 'failed'] as const
const ORIGINS = ['generated', 'derived', 'imported', 'reserved', 'securely-imported'] as const

/**
 * What the device states about itself and the key. Values that only its system software vouches for start with
 * `claimed`.
 */
export interface KeyDescription {
  readonly version: number
  /** The security level of the component that made the statement. */
  readonly attestationLevel: SecurityLevel
  /** The security level of the component that holds the key. */
  readonly keyLevel: SecurityLevel
  readonly challenge: Uint8Array
  /** Where the key came from, as enforced by the secure hardware. */
  readonly origin: (typeof ORIGINS)[number] | undefined
  readonly isDeviceLocked: boolean | undefined
  readonly bootState: (typeof BOOT_STATES)[number] | undefined
  /** YYYYMM or YYYYMMDD. */
  readonly patchLevel: number | undefined
  readonly claimedPackages: readonly string[]
  /**
   * SHA-256 of the certificates that signed those packages, lower-case hex. Needed because anyone can give an app any
   * name.
   */
  readonly claimedSigners: readonly string[]
}

/** Tags of the authorization list. */
const ORIGIN = 702
const ROOT_OF_TRUST = 704
const OS_PATCH_LEVEL = 706
const APPLICATION_ID = 709

/**
 * Reads the KeyDescription of Android key attestation, versions 1 to 400.
 *
 * @param extension the content of the extension's OCTET STRING
 * @throws {DerError} on anything else
 * @see https://source.android.com/docs/security/features/keystore/attestation
 */
export function readKeyDescription(extension: Uint8Array): KeyDescription {
  const fields = readChildren(expectTag(readDer(extension), SEQUENCE))
  if (fields.length !== 8) throw new DerError(`the key description has ${fields.length} fields instead of 8`)
  const [version, attestationLevel, , keyLevel, challenge, , software, hardware] = fields
  const claimed = readAuthorizations(software)
  const enforced = readAuthorizations(hardware)
  const origin = enforced.get(ORIGIN)
  const root = enforced.get(ROOT_OF_TRUST)
  const [, locked, state] = root === undefined ? [] : readChildren(expectTag(root, SEQUENCE))
  const patchLevel = enforced.get(OS_PATCH_LEVEL)
  const application = claimed.get(APPLICATION_ID)
  return {
    version: readSmallInteger(version),
    attestationLevel: nameAt(SECURITY_LEVELS, readSmallInteger(attestationLevel, ENUMERATED)),
    keyLevel: nameAt(SECURITY_LEVELS, readSmallInteger(keyLevel, ENUMERATED)),
    challenge: expectTag(challenge, OCTET_STRING).content,
    origin: origin === undefined ? undefined : nameAt(ORIGINS, readSmallInteger(origin)),
    isDeviceLocked: root === undefined ? undefined : readBoolean(locked),
    bootState: root === undefined ? undefined : nameAt(BOOT_STATES, readSmallInteger(state, ENUMERATED)),
    patchLevel: patchLevel === undefined ? undefined : readSmallInteger(expectTag(patchLevel, INTEGER)),
    ...(application === undefined
      ? { claimedPackages: [], claimedSigners: [] }
      : readApplication(expectTag(application, OCTET_STRING).content)),
  }
}

/** Returns the members of an authorization list by tag, each without its explicit wrapper. */
function readAuthorizations(list: DerElement | undefined): Map<number, DerElement> {
  const members = new Map<number, DerElement>()
  for (const member of readChildren(expectTag(list, SEQUENCE))) {
    const [value, ...others] = readChildren(member)
    if (member.tagClass !== 2 || value === undefined || others.length > 0 || members.has(member.tag)) {
      throw new DerError(`a malformed or repeated authorization ${member.tag}`)
    }
    members.set(member.tag, value)
  }
  return members
}

/** Reads AttestationApplicationId: the packages that share the key's owner, and the signers of those packages. */
function readApplication(bytes: Uint8Array): Pick<KeyDescription, 'claimedPackages' | 'claimedSigners'> {
  const [packages, digests] = readChildren(expectTag(readDer(bytes), SEQUENCE))
  return {
    claimedPackages: readChildren(expectTag(packages, SET)).map((entry) => {
      const [name] = readChildren(expectTag(entry, SEQUENCE))
      const { content } = expectTag(name, OCTET_STRING)
      return Buffer.from(content.subarray(0, 200)).toString('latin1')
    }),
    claimedSigners: readChildren(expectTag(digests, SET)).map((digest) =>
      Buffer.from(expectTag(digest, OCTET_STRING).content).toString('hex'),
    ),
  }
}

function nameAt<const T extends readonly string[]>(names: T, index: number): T[number] {
  const name = names[index]
  if (name === undefined) throw new DerError(`unknown value ${index}`)
  return name
}
