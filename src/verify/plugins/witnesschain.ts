import { recoverAddress } from '../../crypto/address.ts'
import { utf8 } from '../../crypto/hex.ts'
import { parseSignature, personalMessage } from '../../crypto/signature.ts'
import type { Hex } from '../../wire/values.ts'
import type { CheckCollector, Coordinates, PluginContext, VerifyPlugin } from '../plugin.ts'
import { checkSamePosition } from '../plugin.ts'
import {
  asObject,
  printable,
  readNumber,
  readObject,
  readObjects,
  readSignal,
  readText,
  type Signals,
} from '../signals.ts'
import { spendOnEd25519, spendOnRecovery } from '../signature-work.ts'
import type { SignatureEngine } from '../signatures.ts'

/**
 * Returns the address that signed a text by EIP-191 ("personal sign"), lower case; undefined when none can be
 * recovered.
 */
function recoverPersonalSigner(
  text: string,
  signature: string,
  { keccak, secp256k1 }: SignatureEngine,
): Hex | undefined {
  const parsed = parseSignature(signature)
  if (!parsed.ok) return undefined
  spendOnRecovery()
  return recoverAddress(keccak.hash(personalMessage(utf8(text))), parsed.signature, secp256k1, keccak)
}

/** A witness that measured the round-trip time to the prover. */
interface Witness {
  /** Address or public key; several measurements by one key count as one witness. */
  readonly key: string
  readonly position: Coordinates
  /** The uncertainty of the position. */
  readonly radiusKm: number
  readonly roundTripMs: number
}

/** One-way distance, in kilometres, that light in vacuum allows per millisecond of round-trip time. */
const VACUUM_KM_PER_MS = 299_792.458 / 2 / 1000
/** The same in optical fibre, where light travels at two thirds of that speed. */
const FIBRE_KM_PER_MS = (VACUUM_KM_PER_MS * 2) / 3

/**
 * Checks that the measured latencies are possible at the speed of light. A latency bounds only the distance from the
 * witness; it does not give a position.
 *
 * @returns `boundKm`, the smallest bound, and `feasibleRadiusKm`, the largest distance from the stamp's location at
 *   which the prover can be when every bound holds
 */
function checkLatency(
  witnesses: readonly Witness[],
  { distanceFrom }: PluginContext,
  checks: CheckCollector,
): { boundKm?: number; feasibleRadiusKm?: number; witnesses?: number } {
  const bounds = witnesses.flatMap(({ key, position, radiusKm, roundTripMs }) => {
    if (!checks.fail('latency-positive', roundTripMs > 0, roundTripMs, '> 0 ms')) return []
    checks.warn('latency-usual', roundTripMs <= 1000, roundTripMs, 1000)
    const boundKm = roundTripMs * VACUUM_KM_PER_MS
    const toLocationKm = distanceFrom(position) / 1000
    const apartKm = Math.max(0, toLocationKm - radiusKm)
    checks.fail('light-speed', apartKm <= boundKm, apartKm, boundKm)
    const fibreKm = roundTripMs * FIBRE_KM_PER_MS
    checks.warn('faster-than-fibre', apartKm <= fibreKm, apartKm, fibreKm)
    return [{ key, boundKm, reachKm: toLocationKm + radiusKm + boundKm }]
  })
  if (bounds.length === 0) return {}
  return {
    witnesses: new Set(bounds.map(({ key }) => key)).size,
    boundKm: Math.min(...bounds.map(({ boundKm }) => boundKm)),
    feasibleRadiusKm: Math.min(...bounds.map(({ reachKm }) => reachKm)),
  }
}

/**
 * Round-trip times that witnesses measured to the prover. They bound only the distance from a witness and do not give a
 * position. The location itself is the prover's own claim.
 */
export const witnesschain: VerifyPlugin = {
  name: 'witnesschain',
  version: '0.1.0',
  environments: ['server', 'node'],
  description: 'Network latency measured by witnesses',
  pointOnly: true,
  accuracyMeters(signals) {
    const uncertainty = readNumber(signals, 'knowLocUncertaintyKm')
    return uncertainty === undefined ? undefined : uncertainty * 1000
  },
  maxAccuracyMeters: () => 5_000_000,
  check(context, checks) {
    const { signals } = context
    const succeeded = readSignal(signals, 'challengeSucceeded')
    checks.fail('challenge-succeeded', succeeded === true, printable(succeeded), true)
    checkConsolidated(readObject(signals, 'consolidatedResult'), checks)
    const uncertainty = readSignal(signals, 'knowLocUncertaintyKm')
    if (uncertainty !== undefined) {
      checks.fail('uncertainty', typeof uncertainty === 'number' && uncertainty >= 0, printable(uncertainty), '>= 0')
    }
    const prover = readObject(signals, 'proverClaims') ?? {}
    const [lat, lon] = [readNumber(prover, 'latitude'), readNumber(prover, 'longitude')]
    checkSamePosition(checks, 'prover-location', context.point, lat, lon)
    checkChallenge(context, checks)
    checkIsTrusted(context, checks)
    const anchors = readAnchors(context, checks)
    const challenger = readChallenger(signals, checks, anchors.length > 0)
    return checkLatency(challenger === undefined ? anchors : [challenger, ...anchors], context, checks)
  },
}

function checkConsolidated(result: Signals | undefined, checks: CheckCollector): void {
  if (result === undefined) {
    checks.warn('consolidated-result', false, null, 'object')
    return
  }
  const known = readSignal(result, 'KnowLoc')
  checks.fail('know-loc', typeof known === 'boolean', printable(known), 'true or false')
  const verified = readSignal(result, 'verified')
  if (verified !== undefined) checks.fail('verified', verified === true, printable(verified), true)
  const sources = ['ipapi.co', 'ipregistry', 'maxmind'].filter((name) => readSignal(result, name) !== undefined)
  const agreeing = sources.filter((name) => readSignal(result, name) === true)
  if (sources.length > 0) checks.info('ip-sources-agree', agreeing.length, sources.length)
}

/** Checks the challenger's signature, if the stamp has one: the signed message must equal the signals. */
function checkChallenge({ signals, stamp, crypto }: PluginContext, checks: CheckCollector): void {
  const challenge = readObject(signals, 'challengeResult')
  if (challenge === undefined) {
    checks.warn('challenge-signature', false, null, 'signed challenge result')
    return
  }
  const message = readText(challenge, 'message') ?? ''
  const challenger = (readText(signals, 'challenger') ?? readText(challenge, 'challenger') ?? '').toLowerCase()
  const recovered = recoverPersonalSigner(message, readText(challenge, 'signature') ?? '', crypto)
  checks.fail('challenge-signature', recovered !== undefined && recovered === challenger, recovered ?? null, challenger)
  const signedMembers = parseObject(message)
  checks.fail(
    'challenge-message',
    signedMembers !== undefined,
    signedMembers === undefined ? 'not a JSON object' : 'object',
    'object',
  )
  if (signedMembers === undefined) return
  for (const [signal, members] of Object.entries(SIGNED_MEMBERS)) {
    const value = readSignal(signals, signal)
    const name = members.find((member) => readSignal(signedMembers, member) !== undefined)
    if (value === undefined || name === undefined) continue
    const isEqual = isSame(value, readSignal(signedMembers, name))
    checks.fail(`challenge-${signal}`, isEqual, isEqual ? 'equal' : 'different', 'equal')
  }
  const isUnsigned = (signal: string) =>
    readSignal(signals, signal) !== undefined &&
    !SIGNED_MEMBERS[signal]!.some((name) => readSignal(signedMembers, name) !== undefined)
  // Otherwise a signature of this witness over another message would seem to cover any numbers in the signals.
  const unsigned = ['challengerClaims', 'pingDelayMicroseconds'].filter(isUnsigned)
  checks.warn('challenge-covers', unsigned.length === 0, unsigned.join(' ') || 'all', 'place and delay')
  const start = readNumber(signedMembers, 'challenge_start') ?? readNumber(signedMembers, 'challengeStart')
  if (start === undefined) return
  const differenceSeconds = Math.abs(start - stamp.temporalFootprint.start)
  checks.warn('challenge-time', differenceSeconds <= 60, differenceSeconds, 60)
}

/** Signals, and their names in the signed message. */
const SIGNED_MEMBERS: Readonly<Record<string, readonly string[]>> = {
  challengeId: ['id', 'challengeId', 'challenge_id'],
  challenger: ['challenger'],
  challengerId: ['challengerId', 'challenger_id'],
  challengerClaims: ['challengerClaims', 'challenger_claims'],
  proverClaims: ['proverClaims', 'prover_claims', 'claims'],
  challengeSucceeded: ['challengeSucceeded', 'challenge_succeeded'],
  pingDelayMicroseconds: ['pingDelayMicroseconds', 'ping_delay'],
}

function parseObject(message: string): Signals | undefined {
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
  return ['latitude', 'longitude', 'radius'].every((name) => readSignal(x, name) === readSignal(y, name))
}

/** Checks that the challenger is one of the operator's witnesses. Anyone can be a challenger, so the operator names them. */
function checkIsTrusted({ signals, config }: PluginContext, checks: CheckCollector): void {
  const challenger = readText(signals, 'challenger')?.toLowerCase()
  if (config.witnesses === undefined || challenger === undefined) checks.info('challenger', challenger ?? null)
  else checks.warn('challenger-known', config.witnesses.includes(challenger), challenger, 'a witness of the operator')
}

/** @param isOptional whether the measurement may be missing, because there are anchors */
function readChallenger(signals: Signals, checks: CheckCollector, isOptional: boolean): Witness | undefined {
  const raw = readSignal(signals, 'pingDelayMicroseconds')
  if (raw === undefined && isOptional) return undefined
  const samples = Array.isArray(raw) ? raw : [raw]
  const isMeasured = samples.length > 0 && samples.every((value) => typeof value === 'number' && Number.isFinite(value))
  if (!checks.fail('latency', isMeasured, isMeasured ? samples.length : printable(raw), 'numbers')) return undefined
  const claims = readObject(signals, 'challengerClaims')
  const position = claims === undefined ? undefined : readPosition(claims, 'longitude', 'latitude')
  const measured = claims === undefined ? null : 'object'
  if (!checks.fail('challenger-position', position !== undefined, measured, 'degrees')) return undefined
  // Noise only adds delay, so the smallest sample is the most accurate.
  const roundTripMs =
    samples.reduce((least: number, sample) => Math.min(least, sample), Number.POSITIVE_INFINITY) / 1000
  const key = (readText(signals, 'challenger') ?? '').toLowerCase()
  return { key, position: position!, roundTripMs, radiusKm: Math.max(0, readNumber(claims!, 'radius') ?? 0) / 1000 }
}

/**
 * Reads the servers that measured independently and signed the result (`anchors`). An anchor whose signature does not
 * verify, or covers other numbers than these, fails a check and gives no bound.
 */
function readAnchors({ signals, crypto, config }: PluginContext, checks: CheckCollector): Witness[] {
  if (readSignal(signals, 'anchors') === undefined) return []
  const anchors = readObjects(signals, 'anchors') ?? []
  const isList = anchors.length > 0 && anchors.length <= MAX_ANCHORS
  if (!checks.fail('anchors', isList, anchors.length, `1..${MAX_ANCHORS} objects`)) return []
  return anchors.flatMap((anchor) => {
    const [raw, signature, publicKey] = ['raw', 'signature', 'pubkey'].map((name) =>
      decodeBytes(readText(anchor, name)),
    )
    spendOnEd25519(raw ?? NO_BYTES)
    const isSigned = raw !== undefined && crypto.ed25519.verify(raw, signature ?? NO_BYTES, publicKey ?? NO_BYTES)
    const signedMembers = raw === undefined ? undefined : parseObject(raw.toString('utf8'))
    const isSameMeasurement =
      signedMembers !== undefined &&
      ['lat', 'lng', 'rttNs'].every((name) => readSignal(signedMembers, name) === readSignal(anchor, name))
    const position = readPosition(anchor, 'lng', 'lat')
    const roundTripNs = readNumber(anchor, 'rttNs')
    const isComplete = position !== undefined && roundTripNs !== undefined
    const signed = checks.fail('anchor-signature', isSigned, isSigned, true)
    const mismatch = signedMembers === undefined ? 'not a JSON object' : 'different'
    const same = checks.fail('anchor-message', isSameMeasurement, isSameMeasurement ? 'equal' : mismatch, 'equal')
    if (!checks.fail('anchor-measurement', isComplete, isComplete, true) || !signed || !same) return []
    const key = `0x${publicKey!.toString('hex')}`
    if (config.witnesses !== undefined) {
      checks.warn('anchor-known', config.witnesses.includes(key), key, 'a witness of the operator')
    }
    return [{ key, position: position!, roundTripMs: roundTripNs! / 1e6, radiusKm: 0 }]
  })
}

const MAX_ANCHORS = 32
const NO_BYTES = new Uint8Array()

/** Decodes hex with 0x, or base64. */
function decodeBytes(text: string | undefined): Buffer | undefined {
  if (text === undefined) return undefined
  if (/^0x(?:[0-9a-fA-F]{2})*$/.test(text)) return Buffer.from(text.slice(2), 'hex')
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, 'base64') : undefined
}

function readPosition(claims: Signals, lonName: string, latName: string): Coordinates | undefined {
  const lat = readNumber(claims, latName)
  const lon = readNumber(claims, lonName)
  if (lat === undefined || lon === undefined || Math.abs(lat) > 90 || Math.abs(lon) > 180) return undefined
  return { lat, lon }
}
