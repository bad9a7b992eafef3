import { checkLatency, type Witness } from '../latency.ts'
import { recoverPersonalSigner } from '../personal-sign.ts'
import type { CheckCollector, Coordinates, PluginContext, VerifyPlugin } from '../plugin.ts'
import { checkSamePlace } from '../same-place.ts'
import { asObject, numberOf, objectOf, objectsOf, type Signals, shown, signalOf, textOf } from '../signals.ts'

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
    const prover = objectOf(signals, 'proverClaims') ?? {}
    const [lat, lon] = [numberOf(prover, 'latitude'), numberOf(prover, 'longitude')]
    checkSamePlace(checks, 'prover-location', context.point, lat, lon)
    checkChallenge(context, checks)
    checkKnown(context, checks)
    const anchors = anchorsOf(context, checks)
    const challenger = challengerOf(signals, checks, anchors.length > 0)
    return checkLatency(challenger === undefined ? anchors : [challenger, ...anchors], context, checks)
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
  const isUnsigned = (signal: string) =>
    signalOf(signals, signal) !== undefined &&
    !SIGNED_MEMBERS[signal]!.some((name) => signalOf(said, name) !== undefined)
  // A signature over anything else of that witness would vouch for any number beside it.
  const unsigned = ['challengerClaims', 'pingDelayMicroseconds'].filter(isUnsigned)
  checks.warn('challenge-covers', unsigned.length === 0, unsigned.join(' ') || 'all', 'place and delay')
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

/** Anybody can be a witness; whom to believe is the operator's matter. */
function checkKnown({ signals, config }: PluginContext, checks: CheckCollector): void {
  const challenger = textOf(signals, 'challenger')?.toLowerCase()
  if (config.witnesses === undefined || challenger === undefined) checks.info('challenger', challenger ?? null)
  else checks.warn('challenger-known', config.witnesses.includes(challenger), challenger, 'a witness of the operator')
}

/** @param isOptional other witnesses measured too */
function challengerOf(signals: Signals, checks: CheckCollector, isOptional: boolean): Witness | undefined {
  const raw = signalOf(signals, 'pingDelayMicroseconds')
  if (raw === undefined && isOptional) return undefined
  const samples = Array.isArray(raw) ? raw : [raw]
  const isMeasured = samples.length > 0 && samples.every((value) => typeof value === 'number' && Number.isFinite(value))
  if (!checks.fail('latency', isMeasured, isMeasured ? samples.length : shown(raw), 'numbers')) return undefined
  const claims = objectOf(signals, 'challengerClaims')
  const position = claims === undefined ? undefined : positionOf(claims, 'longitude', 'latitude')
  const told = claims === undefined ? null : 'object'
  if (!checks.fail('challenger-position', position !== undefined, told, 'degrees')) return undefined
  // Noise only adds delay, so of several samples the least counts.
  const roundTripMs =
    samples.reduce((least: number, sample) => Math.min(least, sample), Number.POSITIVE_INFINITY) / 1000
  const key = (textOf(signals, 'challenger') ?? '').toLowerCase()
  return { key, position: position!, roundTripMs, radiusKm: Math.max(0, numberOf(claims!, 'radius') ?? 0) / 1000 }
}

/**
 * Servers that answered by themselves and signed what they saw (`anchors`). One whose signature fails, or is over anything
 * else than these numbers, bounds nothing.
 */
function anchorsOf({ signals, crypto, config }: PluginContext, checks: CheckCollector): Witness[] {
  if (signalOf(signals, 'anchors') === undefined) return []
  const anchors = objectsOf(signals, 'anchors') ?? []
  const isList = anchors.length > 0 && anchors.length <= MAX_ANCHORS
  if (!checks.fail('anchors', isList, anchors.length, `1..${MAX_ANCHORS} objects`)) return []
  return anchors.flatMap((anchor) => {
    const [raw, signature, publicKey] = ['raw', 'signature', 'pubkey'].map((name) => bytesOf(textOf(anchor, name)))
    const isSigned = raw !== undefined && crypto.ed25519.verify(raw, signature ?? NOTHING, publicKey ?? NOTHING)
    const said = raw === undefined ? undefined : parsed(raw.toString('utf8'))
    const isSaid =
      said !== undefined && ['lat', 'lng', 'rttNs'].every((name) => signalOf(said, name) === signalOf(anchor, name))
    const position = positionOf(anchor, 'lng', 'lat')
    const roundTripNs = numberOf(anchor, 'rttNs')
    const isWhole = position !== undefined && roundTripNs !== undefined
    const signed = checks.fail('anchor-signature', isSigned, isSigned, true)
    const told = said === undefined ? 'not a JSON object' : 'different'
    const same = checks.fail('anchor-message', isSaid, isSaid ? 'equal' : told, 'equal')
    if (!checks.fail('anchor-measurement', isWhole, isWhole, true) || !signed || !same) return []
    const key = `0x${publicKey!.toString('hex')}`
    if (config.witnesses !== undefined) {
      checks.warn('anchor-known', config.witnesses.includes(key), key, 'a witness of the operator')
    }
    return [{ key, position: position!, roundTripMs: roundTripNs! / 1e6, radiusKm: 0 }]
  })
}

const MAX_ANCHORS = 32
const NOTHING = new Uint8Array()

/** Hex with 0x, or base64. */
function bytesOf(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined
  if (/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return Buffer.from(text.slice(2), 'hex')
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

function positionOf(claims: Signals, lonName: string, latName: string): Coordinates | undefined {
  const lat = numberOf(claims, latName)
  const lon = numberOf(claims, lonName)
  if (lat === undefined || lon === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { lat, lon }
}
