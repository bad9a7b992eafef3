import { timingSafeEqual } from 'node:crypto'
import type { DeviceTrust } from '../../wire/compute-messages.ts'
import { StampMessages } from '../message.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { asObject, readSignal } from '../signals.ts'
import { verifySignatures } from '../signatures.ts'
import { decodeBase64, isFileSent, listCommitments } from './attested-message.ts'
import { type Certificate, MAX_CHAIN, verifyChain } from './chain.ts'
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
import { revokedSerialSet, trustAnchors } from './trust.ts'

/** The extension in which Android describes the key of a certificate. */
const KEY_DESCRIPTION = '1.3.6.1.4.1.11129.2.1.17'

const SECURITY_LEVELS = ['software', 'trusted-environment', 'strongbox'] as const
type SecurityLevel = (typeof SECURITY_LEVELS)[number]
/** Android's boot states green, yellow, orange and red. */
const BOOT_STATES = ['verified', 'self-signed', 'unverified', 'failed'] as const
const ORIGINS = ['generated', 'derived', 'imported', 'reserved', 'securely-imported'] as const

/**
 * What the device states about itself and the key. Values that only its system software vouches for start with
 * `claimed`.
 */
interface KeyDescription {
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

/** The facts that are reported about an Android device that attested. */
export interface KeyAttestationFacts {
  readonly securityLevel: string
  readonly bootState: string | null
  readonly boundBy: string
  readonly packages: readonly string[]
  readonly patchLevel: number | null
}

/**
 * Checks an Android key attestation, if the stamp has one: its chain to a pinned root, the description of the key by
 * secure hardware, and that it was made for this stamp.
 *
 * @returns undefined when there is none, when it cannot be read, or when it was not made for this stamp
 */
export function checkKeyAttestation(
  context: PluginContext,
  trust: DeviceTrust,
  checks: CheckCollector,
): KeyAttestationFacts | undefined {
  const sent = chainSignal(context)
  if (sent === undefined) return undefined
  const ders = sent.slice(0, MAX_CHAIN + 1).map((text) => decodeBase64(text, 8192) ?? new Uint8Array())
  const chain = verifyChain(ders, {
    anchors: trustAnchors('android', trust.androidRoots),
    atSeconds: context.stamp.temporalFootprint.start,
    revokedSerials: revokedSerialSet(trust),
  })
  if (!checks.fail('key-attestation-chain', chain.ok, chain.ok ? ders.length : chain.reason, 'pinned root')) return
  if (!chain.ok) return
  const description = describe(chain.certificates, checks)
  if (description === undefined) return
  checkDevice(description, trust, checks)
  const boundBy = checkBinding(description, chain.certificates[0]!, context, checks)
  if (boundBy === undefined) return
  return {
    securityLevel: description.attestationLevel,
    bootState: description.bootState ?? null,
    boundBy,
    packages: description.claimedPackages.slice(0, 8),
    patchLevel: description.patchLevel ?? null,
  }
}

function chainSignal({ signals }: PluginContext): readonly unknown[] | undefined {
  const value = readSignal(signals, 'AndroidKeyAttestation.x5c') ?? readSignal(signals, 'AndroidKeyAttestation')
  if (value === undefined) return undefined
  const list = asObject(value) === undefined ? value : readSignal(asObject(value)!, 'x5c')
  return Array.isArray(list) ? list : [list]
}

/**
 * Reads the description of the key. Only the leaf may have one, because an application can extend a chain below its own
 * attested key and write anything into the certificates that it signs there.
 */
function describe(certificates: readonly Certificate[], checks: CheckCollector): KeyDescription | undefined {
  const indexes = certificates.flatMap(({ extensions }, index) => (extensions.has(KEY_DESCRIPTION) ? [index] : []))
  const isInLeaf = indexes.length === 1 && indexes[0] === 0
  if (!checks.fail('key-attestation-description', isInLeaf, indexes.join(' ') || 'none', 'only in the leaf')) return
  try {
    return readKeyDescription(certificates[0]!.extensions.get(KEY_DESCRIPTION)!)
  } catch (error) {
    if (!(error instanceof DerError)) throw error
    checks.fail('key-attestation-description', false, error.message, 'KeyDescription')
    return undefined
  }
}

function checkDevice(
  { attestationLevel, keyLevel, origin, bootState, isDeviceLocked, claimedPackages, claimedSigners }: KeyDescription,
  { androidPackages, androidSigners }: DeviceTrust,
  checks: CheckCollector,
): void {
  const isHardware = attestationLevel !== 'software' && keyLevel !== 'software'
  const levels = attestationLevel === keyLevel ? keyLevel : `${attestationLevel}, key in ${keyLevel}`
  checks.fail('key-attestation-level', isHardware, levels, 'trusted-environment or strongbox')
  checks.fail('key-attestation-origin', origin === 'generated', origin ?? null, 'generated')
  const isBooted = bootState === 'verified' || bootState === 'self-signed'
  checks.fail('key-attestation-boot', isBooted, bootState ?? null, 'verified or self-signed')
  checks.warn('key-attestation-maker-system', bootState === 'verified', bootState ?? null, 'verified')
  checks.fail('key-attestation-locked', isDeviceLocked === true, isDeviceLocked ?? null, true)
  if (androidPackages.length > 0) {
    const isKnown = claimedPackages.some((name) => androidPackages.includes(name))
    checks.fail('key-attestation-package', isKnown, claimedPackages[0] ?? null, 'a package of the operator')
    // An app can have any package name, but it cannot be signed with someone else's key.
    if (androidSigners.length === 0) checks.warn('key-attestation-app-signer', false, null, 'no signer is configured')
  }
  if (androidSigners.length > 0) {
    const isSigned = claimedSigners.some((digest) => androidSigners.includes(digest))
    checks.fail('key-attestation-app-signer', isSigned, claimedSigners[0] ?? null, 'a signer of the operator')
  }
}

/**
 * Checks that the attestation belongs to this stamp. Chains are public and can be copied; only the challenge, or a
 * signature of the stamp by the attested key, binds one to a stamp.
 *
 * @returns what binds it; undefined when nothing does, or only the hash of a file that was not sent
 */
function checkBinding(
  { challenge }: KeyDescription,
  leaf: Certificate,
  context: PluginContext,
  checks: CheckCollector,
): string | undefined {
  const commitment = listCommitments(context).find(({ bytes }) => isEqual(bytes, challenge))
  if (commitment?.covers !== 'stamp' && signsStamp(leaf, context)) return bind('key')
  if (commitment === undefined) {
    checks.fail('key-attestation-binding', false, 'another challenge', 'this stamp')
    return undefined
  }
  if (commitment.covers === 'stamp') return bind(commitment.by)
  checks.warn('key-attestation-covers-location', false, commitment.by, 'the whole stamp')
  return isFileSent(context) ? commitment.by : undefined

  function bind(by: string): string {
    checks.fail('key-attestation-binding', true, by, 'this stamp')
    return by
  }
}

/**
 * Returns whether the attested key may sign and signed the stamp. Verifies the signature, because anyone can name the key
 * as a signer.
 */
function signsStamp({ publicKey: key, maySignData }: Certificate, { stamp, crypto }: PluginContext): boolean {
  if (!maySignData || key.asymmetricKeyType !== 'ed25519') return false
  const { x = '' } = key.export({ format: 'jwk' })
  const attested = `ed25519:${Buffer.from(x, 'base64url').toString('hex')}`
  const ed25519Signatures = stamp.signatures.filter(({ algorithm }) => algorithm === 'ed25519')
  return verifySignatures(ed25519Signatures, new StampMessages(stamp, crypto.keccak), undefined, crypto).keys.includes(
    attested,
  )
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
