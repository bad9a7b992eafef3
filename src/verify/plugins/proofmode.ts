import { isFileShown } from '../device/attested-message.ts'
import { checkDevice } from '../device/checks.ts'
import type { CheckCollector, PluginContext, VerifyPlugin } from '../plugin.ts'
import { checkSamePlace } from '../same-place.ts'
import { asObject, momentOf, numericOf, type Signals, shown, signalOf, textOf } from '../signals.ts'

/** What a phone recorded beside a photograph or video. */
export const proofmode: VerifyPlugin = {
  name: 'proofmode',
  version: '0.1.0',
  environments: ['mobile', 'server'],
  description: 'Device record beside a photograph or video',
  pointOnly: true,
  accuracyMeters: (signals) => numericOf(signals, 'Location.Accuracy'),
  maxAccuracyMeters: (signals) => ACCURACY_CAPS.get(providerOf(signals)) ?? 5000,
  check(context, checks) {
    const { signals, point } = context
    const lat = numericOf(signals, 'Location.Latitude')
    const lon = numericOf(signals, 'Location.Longitude')
    checkSamePlace(checks, 'signals-location', point, lat, lon, true)
    checkTimes(context, checks)
    checkSensor(signals, checks)
    const fileHash = textOf(signals, 'FileHash')
    if (fileHash !== undefined) checks.warn('file-hash', /^[0-9a-f]{64}$/i.test(fileHash), fileHash, 'SHA-256')
    if (context.media !== undefined) {
      const isNamed = isFileShown(context)
      checks.fail('file-hash-media', isNamed, isNamed ? context.media.length : 'another file', fileHash ?? null)
    }
    checkIntegrityToken(signals, checks)
    const ots = textOf(signals, 'HasOTS') ?? ''
    if (ots !== '' && ots !== 'false') checks.info('time-stamp-not-verifiable-offline', 'OpenTimestamps')
    return { device: checkDevice(context, checks, context.config.device) }
  },
}

/** Metres by provider. */
const ACCURACY_CAPS: ReadonlyMap<string, number> = new Map([
  ['gps', 100],
  ['network', 5000],
  ['fused', 1000],
])

function providerOf(signals: Signals): string {
  return (textOf(signals, 'Location.Provider') ?? '').toLowerCase()
}

function checkTimes({ signals, stamp }: PluginContext, checks: CheckCollector): void {
  const { start, end } = stamp.temporalFootprint
  const milliseconds = numericOf(signals, 'Location.Time')
  const located = milliseconds === undefined ? undefined : milliseconds / 1000
  if (located !== undefined) {
    const outside = Math.max(start - located, located - end, 0)
    checks.fail('location-time', outside <= 3600, outside, 3600)
    checks.warn('location-time-near', outside <= 60, outside, 60)
  } else checks.warn('location-time-near', false, shown(signalOf(signals, 'Location.Time')), 60)
  const times = [located, secondsOf(signals, 'DateCreated'), secondsOf(signals, 'Timestamp')].filter(
    (time) => time !== undefined,
  )
  if (times.length < 2) return
  const span = Math.max(...times) - Math.min(...times)
  checks.warn('times-agree', span <= 86_400, span, 86_400)
}

/** A moment written as ISO 8601 or in milliseconds. */
function secondsOf(signals: Signals, name: string): number | undefined {
  const number = numericOf(signals, name)
  return number === undefined ? momentOf(textOf(signals, name)) : number / 1000
}

function checkSensor(signals: Signals, checks: CheckCollector): void {
  const accuracy = numericOf(signals, 'Location.Accuracy')
  const provider = providerOf(signals)
  if (accuracy !== undefined) {
    checks.fail('accuracy', accuracy >= 0, accuracy, '>= 0')
    if (provider === 'gps') checks.warn('gps-accuracy', accuracy <= 100, accuracy, 100)
    if (provider === 'network') checks.warn('network-accuracy', accuracy >= 5, accuracy, 5)
  }
  const speed = numericOf(signals, 'Location.Speed')
  if (speed !== undefined) checks.warn('speed', speed >= 0 && speed <= 343, speed, 343)
}

/** Google alone can open one kind and has retired the other: what is left to see is its form. */
function checkIntegrityToken(signals: Signals, checks: CheckCollector): void {
  const token = textOf(signals, 'SafetyNet.JWT')
  if (token === undefined) return
  const parts = token.split('.').length
  checks.fail('integrity-token-form', parts === 3 || parts === 5, parts, '3 (signed) or 5 (encrypted)')
  checks.info('integrity-not-verifiable-offline', parts === 5 ? 'encrypted' : 'signed')
  if (parts === 3) checkVerdict(token, checks)
}

/** What a SafetyNet token says of its device. Its signature is not verified: a bad word counts, a good one proves nothing. */
function checkVerdict(token: string, checks: CheckCollector): void {
  let said: Signals | undefined
  try {
    said = asObject(JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString('utf8')))
  } catch {
    said = undefined
  }
  if (said === undefined) {
    checks.warn('integrity-token-payload', false, 'not a JSON object', 'object')
    return
  }
  for (const name of ['ctsProfileMatch', 'basicIntegrity']) {
    const value = signalOf(said, name)
    checks.warn(`integrity-${name}`, value !== false, shown(value), true)
  }
}
