import type { DeviceTrust } from '../../wire/compute-messages.ts'
import { type AppAttestFacts, checkAppAttest } from '../device/app-attest.ts'
import { isFileSent } from '../device/attested-message.ts'
import { checkKeyAttestation, type KeyAttestationFacts } from '../device/key-attestation.ts'
import { checkPgp, type PgpFacts } from '../device/pgp.ts'
import { NO_DEVICE_TRUST } from '../device/trust.ts'
import {
  type CheckCollector,
  checkSamePosition,
  type PluginContext,
  type PluginFacts,
  type VerifyPlugin,
} from '../plugin.ts'
import { asObject, parseTime, printable, readNumeric, readSignal, readText, type Signals } from '../signals.ts'

/** The metadata that a phone recorded with a photograph or video. */
export const proofmode: VerifyPlugin = {
  name: 'proofmode',
  version: '0.1.0',
  environments: ['mobile', 'server'],
  description: 'Device record beside a photograph or video',
  pointOnly: true,
  accuracyMeters: (signals) => readNumeric(signals, 'Location.Accuracy'),
  maxAccuracyMeters: (signals) => ACCURACY_CAPS.get(readProvider(signals)) ?? 5000,
  check(context, checks) {
    const { signals, point } = context
    const lat = readNumeric(signals, 'Location.Latitude')
    const lon = readNumeric(signals, 'Location.Longitude')
    checkSamePosition(checks, 'signals-location', point, lat, lon, true)
    checkTimes(context, checks)
    checkSensor(signals, checks)
    const fileHash = readText(signals, 'FileHash')
    if (fileHash !== undefined) checks.warn('file-hash', /^[0-9a-f]{64}$/i.test(fileHash), fileHash, 'SHA-256')
    if (context.media !== undefined) {
      const isNamed = isFileSent(context)
      checks.fail('file-hash-media', isNamed, isNamed ? context.media.length : 'another file', fileHash ?? null)
    }
    checkIntegrityToken(signals, checks)
    const ots = readText(signals, 'HasOTS') ?? ''
    if (ots !== '' && ots !== 'false') checks.info('time-stamp-not-verifiable-offline', 'OpenTimestamps')
    return { device: checkDevice(context, checks, context.config.device) }
  },
}

/** The cap on the declared accuracy, in metres, by location provider. */
const ACCURACY_CAPS: ReadonlyMap<string, number> = new Map([
  ['gps', 100],
  ['network', 5000],
  ['fused', 1000],
])

function readProvider(signals: Signals): string {
  return (readText(signals, 'Location.Provider') ?? '').toLowerCase()
}

function checkTimes({ signals, stamp }: PluginContext, checks: CheckCollector): void {
  const { start, end } = stamp.temporalFootprint
  const milliseconds = readNumeric(signals, 'Location.Time')
  const located = milliseconds === undefined ? undefined : milliseconds / 1000
  if (located !== undefined) {
    const outsideSeconds = Math.max(start - located, located - end, 0)
    checks.fail('location-time', outsideSeconds <= 3600, outsideSeconds, 3600)
    checks.warn('location-time-near', outsideSeconds <= 60, outsideSeconds, 60)
  } else checks.warn('location-time-near', false, printable(readSignal(signals, 'Location.Time')), 60)
  const times = [located, secondsOf(signals, 'DateCreated'), secondsOf(signals, 'Timestamp')].filter(
    (time) => time !== undefined,
  )
  if (times.length < 2) return
  const spreadSeconds = Math.max(...times) - Math.min(...times)
  checks.warn('times-agree', spreadSeconds <= 86_400, spreadSeconds, 86_400)
}

/** Reads a time that is written as ISO 8601 or in milliseconds. */
function secondsOf(signals: Signals, name: string): number | undefined {
  const number = readNumeric(signals, name)
  return number === undefined ? parseTime(readText(signals, name)) : number / 1000
}

function checkSensor(signals: Signals, checks: CheckCollector): void {
  const accuracy = readNumeric(signals, 'Location.Accuracy')
  const provider = readProvider(signals)
  if (accuracy !== undefined) {
    checks.fail('accuracy', accuracy >= 0, accuracy, '>= 0')
    if (provider === 'gps') checks.warn('gps-accuracy', accuracy <= 100, accuracy, 100)
    if (provider === 'network') checks.warn('network-accuracy', accuracy >= 5, accuracy, 5)
  }
  const speed = readNumeric(signals, 'Location.Speed')
  if (speed !== undefined) checks.warn('speed', speed >= 0 && speed <= 343, speed, 343)
}

/**
 * Checks the form of an integrity token. Only Google can decrypt one kind and has retired the other, so no more can be
 * verified.
 */
function checkIntegrityToken(signals: Signals, checks: CheckCollector): void {
  const token = readText(signals, 'SafetyNet.JWT')
  if (token === undefined) return
  const parts = token.split('.').length
  checks.fail('integrity-token-form', parts === 3 || parts === 5, parts, '3 (signed) or 5 (encrypted)')
  checks.info('integrity-not-verifiable-offline', parts === 5 ? 'encrypted' : 'signed')
  if (parts === 3) checkVerdict(token, checks)
}

/**
 * Checks what a SafetyNet token says about its device. Its signature is not verified, so a negative statement counts
 * and a positive one proves nothing.
 */
function checkVerdict(token: string, checks: CheckCollector): void {
  let payload: Signals | undefined
  try {
    payload = asObject(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8')))
  } catch {
    payload = undefined
  }
  if (payload === undefined) {
    checks.warn('integrity-token-payload', false, 'not a JSON object', 'object')
    return
  }
  for (const name of ['ctsProfileMatch', 'basicIntegrity']) {
    const value = readSignal(payload, name)
    checks.warn(`integrity-${name}`, value !== false, printable(value), true)
  }
}

/** What devices vouch for, by mechanism. A member is absent unless the stamp has a valid attestation of its mechanism. */
export interface DeviceFacts extends PluginFacts {
  readonly keyAttestation?: KeyAttestationFacts
  readonly appAttest?: AppAttestFacts
  readonly pgp?: PgpFacts
}

/**
 * Checks every mechanism by which a device vouches for a stamp. None is required, but each that is present must verify.
 *
 * @param trust the operator's settings; by default only the pinned roots are trusted
 */
export function checkDevice(
  context: PluginContext,
  checks: CheckCollector,
  trust: DeviceTrust = NO_DEVICE_TRUST,
): DeviceFacts {
  const keyAttestation = checkKeyAttestation(context, trust, checks)
  const appAttest = checkAppAttest(context, trust, checks)
  const pgp = checkPgp(context, trust, checks)
  return {
    ...(keyAttestation && { keyAttestation }),
    ...(appAttest && { appAttest }),
    ...(pgp && { pgp }),
  }
}
