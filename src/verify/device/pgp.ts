import type { DeviceTrust } from '../../messages.ts'
import { verifyDetached } from '../openpgp/detached.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { signalOf, textOf } from '../signals.ts'
import { readRecord, textOf as writtenOf } from './signed-record.ts'

/** Signals that say where and when: a signature that leaves one of them out vouches for nothing here. */
const PLACE_AND_TIME = ['Location.Latitude', 'Location.Longitude', 'Location.Time']

/** What can be told of an OpenPGP key that signed the record. */
export interface PgpFacts {
  readonly fingerprint: string
  readonly signedMembers: number
}

/**
 * The OpenPGP signature of the recording application, where the stamp brings key, signature and the signed bytes
 * (`PGP.PublicKey`, `PGP.MetadataSignature`, `PGP.Metadata`), and that the signals say what was signed.
 *
 * @returns undefined when there is nothing that could be verified
 */
export function checkPgp(context: PluginContext, trust: DeviceTrust, checks: CheckCollector): PgpFacts | undefined {
  const { signals, nowSeconds, stamp } = context
  const key = textOf(signals, 'PGP.PublicKey') ?? ''
  const signature = textOf(signals, 'PGP.MetadataSignature') ?? ''
  if (key === '' && signature === '') return undefined
  const record = textOf(signals, 'PGP.Metadata') ?? ''
  const missing = [
    key === '' ? 'PGP.PublicKey' : '',
    signature === '' ? 'PGP.MetadataSignature' : '',
    record === '' ? 'PGP.Metadata' : '',
  ].filter((name) => name !== '')
  if (missing.length > 0) {
    checks.info('pgp-unverifiable', `${missing.join(', ')} missing`)
    return undefined
  }
  const verdict = verifyDetached(key, signature, record, nowSeconds)
  checks.fail('pgp-signature', verdict.ok, verdict.ok ? verdict.fingerprint : verdict.reason, 'of PGP.PublicKey')
  if (!verdict.ok) return undefined
  const { pgpFingerprints } = trust
  if (pgpFingerprints.length > 0) {
    const isPinned = pgpFingerprints.includes(verdict.fingerprint)
    checks.fail('pgp-key-pinned', isPinned, verdict.fingerprint, 'a key of the operator')
  }
  const apart = Math.abs(verdict.createdSeconds - stamp.temporalFootprint.start)
  checks.warn('pgp-signature-time', apart <= 86_400, apart, 86_400)
  return { fingerprint: verdict.fingerprint, signedMembers: checkRecord(record, context, checks) }
}

/** @returns how many members were signed */
function checkRecord(text: string, { signals }: PluginContext, checks: CheckCollector): number {
  const record = readRecord(text)
  checks.fail('pgp-record', record !== undefined, record?.size ?? 'neither JSON nor CSV', 'names and values')
  if (record === undefined) return 0
  const missing = PLACE_AND_TIME.filter((name) => signalOf(signals, name) !== undefined && !record.has(name))
  checks.fail('pgp-record-covers', missing.length === 0, missing.join(' ') || 'all', PLACE_AND_TIME.join(' '))
  const different = [...record].filter(([name, value]) => {
    const signal = signalOf(signals, name)
    return signal !== undefined && writtenOf(signal) !== value
  })
  checks.fail('pgp-record-equal', different.length === 0, different.map(([name]) => name).join(' ') || 'equal', 'equal')
  return record.size
}
