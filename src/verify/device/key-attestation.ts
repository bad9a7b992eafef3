import { type KeyObject, timingSafeEqual } from 'node:crypto'
import type { DeviceTrust } from '../../messages.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { asObject, signalOf } from '../signals.ts'
import { base64Bytes, commitmentsOf } from './attested-message.ts'
import type { Certificate } from './certificate.ts'
import { MAX_CHAIN, verifyChain } from './chain.ts'
import { DerError } from './der.ts'
import { KEY_DESCRIPTION, type KeyDescription, readKeyDescription } from './key-description.ts'
import { anchorsOf, revokedOf } from './trust.ts'

/** What can be told of an Android device that attested. */
export interface KeyAttestationFacts {
  readonly securityLevel: string
  readonly bootState: string | null
  readonly boundBy: string | null
  readonly packages: readonly string[]
  readonly patchLevel: number | null
}

/**
 * Android key attestation where the stamp brings it: a chain to a pinned root, the description of the key by secure
 * hardware, and that it was made for this stamp.
 *
 * @returns undefined when the stamp brings none, or none that could be read
 */
export function checkKeyAttestation(
  context: PluginContext,
  trust: DeviceTrust,
  checks: CheckCollector,
): KeyAttestationFacts | undefined {
  const sent = chainSignal(context)
  if (sent === undefined) return undefined
  const ders = sent.slice(0, MAX_CHAIN + 1).map((text) => base64Bytes(text, 8192) ?? new Uint8Array())
  const chain = verifyChain(ders, {
    anchors: anchorsOf('android', trust.androidRoots),
    atSeconds: context.stamp.temporalFootprint.start,
    revokedSerials: revokedOf(trust),
  })
  if (!checks.fail('key-attestation-chain', chain.ok, chain.ok ? ders.length : chain.reason, 'pinned root')) return
  if (!chain.ok) return
  const description = describe(chain.certificates, checks)
  if (description === undefined) return
  checkDevice(description, trust, checks)
  return {
    securityLevel: description.attestationLevel,
    bootState: description.bootState ?? null,
    boundBy: checkBinding(description, chain.certificates[0]!, context, checks),
    packages: description.claimedPackages.slice(0, 8),
    patchLevel: description.patchLevel ?? null,
  }
}

function chainSignal({ signals }: PluginContext): readonly unknown[] | undefined {
  const value = signalOf(signals, 'AndroidKeyAttestation.x5c') ?? signalOf(signals, 'AndroidKeyAttestation')
  if (value === undefined) return undefined
  const list = asObject(value) === undefined ? value : signalOf(asObject(value)!, 'x5c')
  return Array.isArray(list) ? list : [list]
}

/**
 * The leaf alone may describe a key: an application can prolong a chain below its own attested key, and write what it
 * likes into the certificates that it signs there.
 */
function describe(certificates: readonly Certificate[], checks: CheckCollector): KeyDescription | undefined {
  const places = certificates.flatMap(({ extensions }, at) => (extensions.has(KEY_DESCRIPTION) ? [at] : []))
  const isInLeaf = places.length === 1 && places[0] === 0
  if (!checks.fail('key-attestation-description', isInLeaf, places.join(' ') || 'none', 'in the leaf alone')) return
  try {
    return readKeyDescription(certificates[0]!.extensions.get(KEY_DESCRIPTION)!)
  } catch (error) {
    if (!(error instanceof DerError)) throw error
    checks.fail('key-attestation-description', false, error.message, 'KeyDescription')
    return undefined
  }
}

function checkDevice(
  { attestationLevel, keyLevel, origin, bootState, isDeviceLocked, claimedPackages }: KeyDescription,
  { androidPackages }: DeviceTrust,
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
  if (androidPackages.length === 0) return
  const isKnown = claimedPackages.some((name) => androidPackages.includes(name))
  checks.fail('key-attestation-package', isKnown, claimedPackages[0] ?? null, 'a package of the operator')
}

/** A chain is public and can be copied: what makes it this stamp's is its challenge, or that its key signed the stamp. */
function checkBinding(
  { challenge }: KeyDescription,
  leaf: Certificate,
  context: PluginContext,
  checks: CheckCollector,
): string | null {
  const commitment = commitmentsOf(context).find(({ bytes }) => isEqual(bytes, challenge))
  const isSigner = signsStamp(leaf.publicKey, context)
  const boundBy = commitment === undefined || (isSigner && commitment.covers === 'file') ? 'key' : commitment.by
  const isBound = commitment !== undefined || isSigner
  checks.fail('key-attestation-binding', isBound, isBound ? boundBy : 'another challenge', 'this stamp')
  const coversPlace = isSigner || commitment?.covers === 'stamp'
  if (isBound) checks.warn('key-attestation-covers-location', coversPlace, boundBy, 'the whole stamp')
  return isBound ? boundBy : null
}

/** Whether the attested key is one that the stamp names as its signer; that it did sign is checked with the signatures. */
function signsStamp(key: KeyObject, { stamp }: PluginContext): boolean {
  if (key.asymmetricKeyType !== 'ed25519') return false
  const { x = '' } = key.export({ format: 'jwk' })
  const hex = Buffer.from(x, 'base64url').toString('hex')
  return stamp.signatures.some(
    ({ signer, algorithm }) =>
      algorithm === 'ed25519' &&
      signer.scheme === 'device-pubkey' &&
      signer.value.toLowerCase().replace(/^0x/, '') === hex,
  )
}

function isEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
