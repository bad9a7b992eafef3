import { recoverPersonalSigner } from '../personal-sign.ts'
import type { CheckCollector, Coordinates, PluginContext, VerifyPlugin } from '../plugin.ts'
import { asObject, numberOf, objectOf, type Signals, shown, signalOf, textOf } from '../signals.ts'

/** What light in vacuum goes in a microsecond there and back, as kilometres one way. */
const VACUUM_KM_PER_RTT_US = 299_792.458 / 2 / 1e6
/** The same in glass fibre, at two thirds. */
const FIBRE_KM_PER_RTT_US = (VACUUM_KM_PER_RTT_US * 2) / 3

/**
 * What a witness measured: how long a signal takes to the prover and back. Such a bound is no position: it only says that
 * the prover is not farther away. The location itself is the prover's own claim.
 */
export const witnesschain: VerifyPlugin = {
  name: 'witnesschain',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'Network latency measured by witnesses',
  pointOnly: true,
  accuracyMeters(signals) {
    const uncertainty = numberOf(signals, 'knowLocUncertaintyKm')
    return uncertainty === undefined ? undefined : uncertainty * 1000
  },
  maxAccuracyMeters: () => 5_000_000,
  check(context, checks) {
    const { signals } = context
    const succeeded = signalOf(signals, 'challengeSucceeded')
    checks.fail('challenge-succeeded', succeeded === true, shown(succeeded), true)
    checkConsolidated(objectOf(signals, 'consolidatedResult'), checks)
    const uncertainty = signalOf(signals, 'knowLocUncertaintyKm')
    if (uncertainty !== undefined) {
      checks.fail('uncertainty', typeof uncertainty === 'number' && uncertainty >= 0, shown(uncertainty), '>= 0')
    }
    checkChallenge(context, checks)
    return checkLatency(context, checks)
  },
}

function checkConsolidated(result: Signals | undefined, checks: CheckCollector): void {
  if (result === undefined) {
    checks.warn('consolidated-result', false, null, 'object')
    return
  }
  const known = signalOf(result, 'KnowLoc')
  checks.fail('know-loc', typeof known === 'boolean', shown(known), 'true or false')
  const verified = signalOf(result, 'verified')
  if (verified !== undefined) checks.fail('verified', verified === true, shown(verified), true)
  const sources = ['ipapi.co', 'ipregistry', 'maxmind'].filter((name) => signalOf(result, name) !== undefined)
  const agreeing = sources.filter((name) => signalOf(result, name) === true)
  if (sources.length > 0) checks.info('ip-sources-agree', agreeing.length, sources.length)
}

/** The challenger's own signature, where the stamp brings it: over exactly what the signals say. */
function checkChallenge({ signals, stamp, crypto }: PluginContext, checks: CheckCollector): void {
  const challenge = objectOf(signals, 'challengeResult')
  if (challenge === undefined) {
    checks.warn('challenge-signature', false, null, 'signed challenge result')
    return
  }
  const message = textOf(challenge, 'message') ?? ''
  const challenger = (textOf(signals, 'challenger') ?? textOf(challenge, 'challenger') ?? '').toLowerCase()
  const recovered = recoverPersonalSigner(message, textOf(challenge, 'signature') ?? '', crypto)
  checks.fail('challenge-signature', recovered !== undefined && recovered === challenger, recovered ?? null, challenger)
  const said = parsed(message)
  checks.fail('challenge-message', said !== undefined, said === undefined ? 'not a JSON object' : 'object', 'object')
  if (said === undefined) return
  for (const [signal, members] of Object.entries(SIGNED_MEMBERS)) {
    const ours = signalOf(signals, signal)
    const name = members.find((member) => signalOf(said, member) !== undefined)
    if (ours === undefined || name === undefined) continue
    const same = isSame(ours, signalOf(said, name))
    checks.fail(`challenge-${signal}`, same, same ? 'equal' : 'different', 'equal')
  }
  const start = numberOf(said, 'challenge_start') ?? numberOf(said, 'challengeStart')
  if (start === undefined) return
  const apart = Math.abs(start - stamp.temporalFootprint.start)
  checks.warn('challenge-time', apart <= 60, apart, 60)
}

/** Signals and what the signed message calls them. */
const SIGNED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  challengeId: ['id', 'challengeId', 'challenge_id'],
  challenger: ['challenger'],
  challengerId: ['challengerId', 'challenger_id'],
  challengerClaims: ['challengerClaims', 'challenger_claims'],
  proverClaims: ['proverClaims', 'prover_claims', 'claims'],
  challengeSucceeded: ['challengeSucceeded', 'challenge_succeeded'],
  pingDelayMicroseconds: ['pingDelayMicroseconds', 'ping_delay'],
}

function parsed(message: string): Signals | undefined {
  try {
    return asObject(JSON.parse(message))
  } catch {
    return undefined
  }
}

function isSame(a: unknown, b: unknown): boolean {
  if (typeof a === 'string' && typeof b === 'string') return a.toLowerCase() === b.toLowerCase()
  const [x, y] = [asObject(a), asObject(b)]
  if (x === undefined || y === undefined) return a === b
  return ['latitude', 'longitude', 'radius'].every((name) => signalOf(x, name) === signalOf(y, name))
}

/** The bound of the speed of light: noise only adds delay, so of several samples the least counts. */
function checkLatency({ signals, distanceFrom }: PluginContext, checks: CheckCollector) {
  const raw = signalOf(signals, 'pingDelayMicroseconds')
  const samples = Array.isArray(raw) ? raw : [raw]
  const isMeasured = samples.length > 0 && samples.every((value) => typeof value === 'number' && Number.isFinite(value))
  if (!checks.fail('latency', isMeasured, isMeasured ? samples.length : shown(raw), 'numbers')) return {}
  const rtt = samples.reduce((least: number, sample) => Math.min(least, sample as number), Number.POSITIVE_INFINITY)
  if (!checks.fail('latency-positive', rtt > 0, rtt, '> 0')) return {}
  checks.warn('latency-usual', rtt <= 1e6, rtt, 1e6)
  const boundKm = rtt * VACUUM_KM_PER_RTT_US
  const claims = objectOf(signals, 'challengerClaims')
  const challenger = claims === undefined ? undefined : positionOf(claims)
  if (
    !checks.fail('challenger-position', challenger !== undefined, claims === undefined ? null : 'object', 'degrees')
  ) {
    return { boundKm }
  }
  const radiusKm = Math.max(0, numberOf(claims!, 'radius') ?? 0) / 1000
  const apartKm = Math.max(0, distanceFrom(challenger!) / 1000 - radiusKm)
  checks.fail('light-speed', apartKm <= boundKm, apartKm, boundKm)
  const fibreKm = rtt * FIBRE_KM_PER_RTT_US
  checks.warn('faster-than-fibre', apartKm <= fibreKm, apartKm, fibreKm)
  return { boundKm, feasibleRadiusKm: boundKm + radiusKm }
}

function positionOf(claims: Signals): Coordinates | undefined {
  const lat = numberOf(claims, 'latitude')
  const lon = numberOf(claims, 'longitude')
  if (lat === undefined || lon === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { lat, lon }
}
