import type { DeviceTrust } from '../../wire/messages.ts'
import { verifyDetached } from '../openpgp/detached.ts'
import type { CheckCollector, PluginContext } from '../plugin.ts'
import { readSignal, readText } from '../signals.ts'
import { readRecord, toRecordText as recordText } from './signed-record.ts'

/**
 * The signals of place and time. Both the stamp and the signed record must have them, or the signature proves nothing.
 */
const PLACE_AND_TIME = ['Location.Latitude', 'Location.Longitude', 'Location.Time']

/** The facts that are reported about an OpenPGP key that signed the record. */
export interface PgpFacts {
  readonly fingerprint: string
  readonly signedMembers: number
}

/**
 * Checks the OpenPGP signature of the recording application, if the stamp has key, signature and signed bytes
 * (`PGP.PublicKey`, `PGP.MetadataSignature`, `PGP.Metadata`), and that the signals equal what was signed.
 *
 * @returns undefined when nothing was verified, or when the signals differ from what was signed
 */
export function checkPgp(context: PluginContext, trust: DeviceTrust, checks: CheckCollector): PgpFacts | undefined {
  const { signals, nowSeconds, stamp } = context
  const key = readText(signals, 'PGP.PublicKey') ?? ''
  const signature = readText(signals, 'PGP.MetadataSignature') ?? ''
  if (key === '' && signature === '') return undefined
  const record = readText(signals, 'PGP.Metadata') ?? ''
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
  const differenceSeconds = Math.abs(verdict.createdSeconds - stamp.temporalFootprint.start)
  checks.warn('pgp-signature-time', differenceSeconds <= 86_400, differenceSeconds, 86_400)
  const signedMembers = checkRecord(record, context, checks)
  return signedMembers === undefined ? undefined : { fingerprint: verdict.fingerprint, signedMembers }
}

/** @returns the number of signed members; undefined when they differ from the signals */
function checkRecord(text: string, { signals }: PluginContext, checks: CheckCollector): number | undefined {
  const record = readRecord(text)
  checks.fail('pgp-record', record !== undefined, record?.size ?? 'neither JSON nor CSV', 'names and values')
  if (record === undefined) return undefined
  // Required on both sides: without the time among the signals, a record of last year could be presented as today's.
  const missing = PLACE_AND_TIME.filter((name) => readSignal(signals, name) === undefined || !record.has(name))
  checks.fail('pgp-record-covers', missing.length === 0, missing.join(' ') || 'all', PLACE_AND_TIME.join(' '))
  const different = [...record].filter(([name, value]) => {
    const signal = readSignal(signals, name)
    return signal !== undefined && recordText(signal) !== value
  })
  checks.fail('pgp-record-equal', different.length === 0, different.map(([name]) => name).join(' ') || 'equal', 'equal')
  return missing.length === 0 && different.length === 0 ? record.size : undefined
}
