import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../crypto/canonical.ts'
import type { PluginContext } from '../plugin.ts'
import { readText } from '../signals.ts'

/** Signals that hold the device's attestation. The attestation is made last and cannot cover itself. */
export const ATTESTATION_SIGNALS: readonly string[] = [
  'AndroidKeyAttestation',
  'AndroidKeyAttestation.x5c',
  'DeviceCheck.Attestation',
  'DeviceCheck.KeyId',
]

/**
 * Returns the bytes that a device attests: RFC 8785 of the stamp without `signatures` and without the signals that hold
 * the attestation itself.
 */
export function attestedMessage({ stamp, signals }: Pick<PluginContext, 'stamp' | 'signals'>): Uint8Array {
  const { signatures: _, ...unsigned } = stamp
  const covered = Object.entries(signals).filter(([name]) => !ATTESTATION_SIGNALS.includes(name))
  return canonicalBytes({ ...unsigned, signals: Object.fromEntries(covered) })
}

/**
 * What a challenge can commit to: this stamp, or only the media file that it names. The hash of a file proves nothing
 * without the file, because a forger can copy the challenge of any attestation into `FileHash`.
 */
export interface Commitment {
  readonly covers: 'stamp' | 'file'
  /** How the 32 bytes are computed. */
  readonly by: 'sha256' | 'keccak256' | 'FileHash'
  readonly bytes: Uint8Array
}

/** Returns every accepted commitment, the strongest first. */
export function listCommitments(context: Pick<PluginContext, 'stamp' | 'signals' | 'crypto'>): readonly Commitment[] {
  const message = attestedMessage(context)
  const commitments: Commitment[] = [
    { covers: 'stamp', by: 'sha256', bytes: createHash('sha256').update(message).digest() },
    { covers: 'stamp', by: 'keccak256', bytes: context.crypto.keccak.hash(message) },
  ]
  const fileHash = readText(context.signals, 'FileHash') ?? ''
  if (/^[0-9a-f]{64}$/i.test(fileHash)) {
    commitments.push({ covers: 'file', by: 'FileHash', bytes: Buffer.from(fileHash, 'hex') })
  }
  return commitments
}

/**
 * Returns whether the client sent the file that the stamp names; only then is `FileHash` known to be the hash of a real
 * file.
 */
export function isFileSent({ signals, media }: Pick<PluginContext, 'signals' | 'media'>): boolean {
  const fileHash = (readText(signals, 'FileHash') ?? '').toLowerCase()
  return media !== undefined && createHash('sha256').update(media).digest('hex') === fileHash
}

/**
 * Decodes base64, standard or URL-safe.
 *
 * @returns undefined when the value is not base64 text or decodes to no bytes or more than `maxBytes` bytes
 */
export function decodeBase64(value: unknown, maxBytes: number): Buffer | undefined {
  if (typeof value !== 'string' || value.length > maxBytes * 2) return undefined
  const text = value
    .replace(/[\r\n\t ]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.length <= maxBytes ? bytes : undefined
}
