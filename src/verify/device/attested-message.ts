import { createHash } from 'node:crypto'
import { canonicalBytes } from '../../geometry/canonical.ts'
import type { PluginContext } from '../plugin.ts'
import { textOf } from '../signals.ts'

/** Signals that hold the device's own statement: made after everything else of the stamp, so it cannot cover them. */
export const ATTESTATION_SIGNALS: readonly string[] = [
  'AndroidKeyAttestation',
  'AndroidKeyAttestation.x5c',
  'DeviceCheck.Attestation',
  'DeviceCheck.KeyId',
]

/**
 * What a device attests when it attests a stamp: RFC 8785 of the stamp without `signatures` and without the signals that
 * hold the attestation itself.
 */
export function attestedMessage({ stamp, signals }: Pick<PluginContext, 'stamp' | 'signals'>): Uint8Array {
  const { signatures: _, ...unsigned } = stamp
  const covered = Object.entries(signals).filter(([name]) => !ATTESTATION_SIGNALS.includes(name))
  return canonicalBytes({ ...unsigned, signals: Object.fromEntries(covered) })
}

/**
 * What a challenge can commit to: this stamp, or only the media file that it names. The latter vouches for nothing without
 * the file: whoever writes the challenge of a copied attestation into `FileHash` has one as good.
 */
export interface Commitment {
  readonly covers: 'stamp' | 'file'
  /** How the 32 bytes are made. */
  readonly by: 'sha256' | 'keccak256' | 'FileHash'
  readonly bytes: Uint8Array
}

/** Every commitment that is accepted, the strongest first. */
export function commitmentsOf(context: Pick<PluginContext, 'stamp' | 'signals' | 'crypto'>): readonly Commitment[] {
  const message = attestedMessage(context)
  const commitments: Commitment[] = [
    { covers: 'stamp', by: 'sha256', bytes: createHash('sha256').update(message).digest() },
    { covers: 'stamp', by: 'keccak256', bytes: context.crypto.keccak.hash(message) },
  ]
  const fileHash = textOf(context.signals, 'FileHash') ?? ''
  if (/^[0-9a-f]{64}$/i.test(fileHash)) {
    commitments.push({ covers: 'file', by: 'FileHash', bytes: Buffer.from(fileHash, 'hex') })
  }
  return commitments
}

/** Whether the file that the stamp names was sent: then its hash is no made-up number. */
export function isFileShown({ signals, media }: Pick<PluginContext, 'signals' | 'media'>): boolean {
  const fileHash = (textOf(signals, 'FileHash') ?? '').toLowerCase()
  return media !== undefined && createHash('sha256').update(media).digest('hex') === fileHash
}

/** @returns the bytes of a base64 text, standard or URL-safe; undefined when it is none or holds more than `maxBytes` */
export function base64Bytes(value: unknown, maxBytes: number): Buffer | undefined {
  if (typeof value !== 'string' || value.length > maxBytes * 2) return undefined
  const text = value
    .replace(/[\r\n\t ]/g, '')
    .replaceAll('-', '+')
    .replaceAll('_', '/')
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return undefined
  const bytes = Buffer.from(text, 'base64')
  return bytes.length > 0 && bytes.length <= maxBytes ? bytes : undefined
}
