import type { DeviceTrust } from '../../messages.ts'
import { verifyDetached } from '../openpgp/detached.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { signalOf, textOf } from '../signals.ts'
import { readRecord, textOf as writtenOf } from './signed-record.ts'

/** Signals that say where and when: a record, or a stamp, that leaves one of them out is vouched for by nothing. */
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
 * @returns undefined when nothing was verified, or something else than the signals say
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
  const signedMembers = checkRecord(record, context, checks)
  return signedMembers === undefined ? undefined : { fingerprint: verdict.fingerprint, signedMembers }
}

/** @returns how many members were signed; undefined when they are not what the signals say */
function checkRecord(text: string, { signals }: PluginContext, checks: CheckCollector): number | undefined {
  const record = readRecord(text)
  checks.fail('pgp-record', record !== undefined, record?.size ?? 'neither JSON nor CSV', 'names and values')
  if (record === undefined) return undefined
  // On both sides: without its time among the signals a record of last year could be shown for today.
  const missing = PLACE_AND_TIME.filter((name) => signalOf(signals, name) === undefined || !record.has(name))
  checks.fail('pgp-record-covers', missing.length === 0, missing.join(' ') || 'all', PLACE_AND_TIME.join(' '))
  const different = [...record].filter(([name, value]) => {
    const signal = signalOf(signals, name)
    return signal !== undefined && writtenOf(signal) !== value
  })
  checks.fail('pgp-record-equal', different.length === 0, different.map(([name]) => name).join(' ') || 'equal', 'equal')
  return missing.length === 0 && different.length === 0 ? record.size : undefined
}
