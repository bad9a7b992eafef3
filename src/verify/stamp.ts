import type { FlatGeometry } from '../geometry/flat.ts'
import type { Hex } from '../messages.ts'
import type { LocationStamp, StampDetails, SubjectIdentifier } from '../types/generated.ts'
import { Checks } from './checks.ts'
import type { StampMessages } from './message.ts'
import {
  type Coordinates,
  PLUGIN_TIMEOUT_MS,
  type PluginContext,
  type PluginFacts,
  type VerifyConfig,
  type VerifyPlugin,
} from './plugin.ts'
import { type SignatureEngine, verifySignatures } from './signatures.ts'
import { checkStructure } from './structure.ts'

/** What judging evidence needs and nothing else: no clock, no environment, no network. */
export interface VerifyEngine {
  readonly crypto: SignatureEngine
  readonly config: VerifyConfig
  /** Least ellipsoidal distance of two geometries, metres. */
  distanceMeters(a: FlatGeometry, b: FlatGeometry): number
  /** @param lon degrees */
  pointOf(lon: number, lat: number): FlatGeometry
}

/** A stamp whose shape was checked. */
export interface ReadStamp {
  /** As received. */
  readonly stamp: LocationStamp
  readonly plugin: VerifyPlugin
  readonly geometry: FlatGeometry
  /** What its signatures may cover. */
  readonly messages: StampMessages
  /** The file that it names, where it was sent beside it. */
  readonly media?: Uint8Array | undefined
}

export interface StampVerdict {
  readonly signaturesValid: boolean
  readonly structureValid: boolean
  readonly signalsConsistent: boolean
  readonly details: StampDetails
  /** One text for each key whose signature verified. */
  readonly signers: readonly string[]
  readonly isBoundToSubject: boolean
  /** As its messages give it: equal for copies of a stamp. */
  digest(): Hex
  /** As declared, metres, and as far as it is believed. */
  readonly accuracyMeters: number | undefined
  readonly accuracyCapped: number | undefined
  /** How precise the stamp counts as: what is believed of it, else the least that its kind is believed, metres. */
  readonly weighedAccuracyMeters: number
}

/** Metres to the far side of the Earth: the accuracy of what is not believed at all. */
const HALF_AROUND = 20_004_000
/** Clocks may differ by this, seconds. */
const CLOCK_SKEW = 300

/**
 * Judges one stamp: its signatures, its form, its signals.
 *
 * @param subject of the claim; absent when the stamp is judged alone
 * @returns the same for the same stamp, time and configuration
 */
export async function verifyStamp(
  read: ReadStamp,
  nowSeconds: number,
  engine: VerifyEngine,
  subject?: SubjectIdentifier,
): Promise<StampVerdict> {
  const { stamp, plugin, messages } = read
  const { verdicts: signatures, keys } = verifySignatures(stamp.signatures, messages, subject, engine.crypto)
  const structure = checkStructure(stamp, read.geometry.type, plugin)
  const { checks, facts } = await checkSignals(read, nowSeconds, engine, subject)
  const declared = safely(() => plugin.accuracyMeters(stamp.signals))
  const cap = safely(() => plugin.maxAccuracyMeters(stamp.signals)) ?? 0
  const accuracyCapped = declared === undefined ? undefined : Math.min(Math.max(declared, 0), cap)
  if (declared !== undefined) checks.warn('implausible-accuracy', declared >= 0 && declared <= cap, declared, cap)
  return {
    signaturesValid: signatures.length > 0 && signatures.every(({ ok }) => ok),
    structureValid: structure.passed,
    signalsConsistent: checks.passed,
    details: { ...facts, checks: checks.list, structure: structure.list, signatures: [...signatures] },
    signers: keys,
    isBoundToSubject: signatures.some(({ boundToSubject }) => boundToSubject === true),
    digest: () => messages.digest(),
    accuracyMeters: declared,
    accuracyCapped,
    weighedAccuracyMeters: cap > 0 ? (accuracyCapped ?? cap) : HALF_AROUND,
  }
}

async function checkSignals(
  { stamp, plugin, geometry, media }: ReadStamp,
  nowSeconds: number,
  engine: VerifyEngine,
  subject: SubjectIdentifier | undefined,
): Promise<{ checks: Checks; facts: PluginFacts }> {
  const checks = new Checks()
  checkTimes(stamp, plugin, nowSeconds, checks)
  const [major, minor] = plugin.version.split('.')
  const isOurs = stamp.pluginVersion.startsWith(`${major}.${minor}.`)
  checks.warn('plugin-version', isOurs, stamp.pluginVersion, `${major}.${minor}.x`)
  const { pointOf, distanceMeters } = engine
  const flatOf = ({ lon, lat }: Coordinates) => pointOf(lon, lat)
  let unmeasured: { readonly cause: unknown } | undefined
  const measured = (a: FlatGeometry, b: FlatGeometry) => {
    try {
      return distanceMeters(a, b)
    } catch (cause) {
      unmeasured = { cause }
      throw cause
    }
  }
  const context: PluginContext = {
    stamp,
    signals: stamp.signals,
    point: geometry.type === 'Point' ? { lon: geometry.vertices[0]!, lat: geometry.vertices[1]! } : undefined,
    nowSeconds,
    config: engine.config,
    crypto: engine.crypto,
    subject,
    media,
    distanceMeters: (a, b) => measured(flatOf(a), flatOf(b)),
    distanceFrom: (position) => measured(flatOf(position), geometry),
  }
  try {
    return { checks, facts: await inTime(plugin.check(context, checks)) }
  } catch (error) {
    // A distance that costs too much says nothing of the evidence: the request is judged where more is allowed, or refused.
    if (unmeasured !== undefined) throw unmeasured.cause
    checks.fail('plugin-error', false, (error as Error).message, null)
    return { checks, facts: { error: 'the plugin could not judge these signals' } }
  }
}

/** Built-in rules answer at once: no timer for them. */
async function inTime(facts: PluginFacts | Promise<PluginFacts>): Promise<PluginFacts> {
  if (!(facts instanceof Promise)) return facts
  let timer: NodeJS.Timeout | undefined
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new RangeError(`took longer than ${PLUGIN_TIMEOUT_MS} ms`)), PLUGIN_TIMEOUT_MS)
  })
  return Promise.race([facts, timeout]).finally(() => clearTimeout(timer))
}

function checkTimes(
  { temporalFootprint, signatures }: LocationStamp,
  plugin: VerifyPlugin,
  nowSeconds: number,
  checks: Checks,
): void {
  const { start, end } = temporalFootprint
  const ahead = start - nowSeconds
  if (plugin.name === 'mock') checks.warn('future-footprint', ahead <= CLOCK_SKEW, ahead, CLOCK_SKEW)
  else checks.fail('future-footprint', ahead <= CLOCK_SKEW, ahead, CLOCK_SKEW)
  // Nobody has observed yet what is to come: an end far ahead would overlap with claims about the future.
  checks.warn('future-end', end - nowSeconds <= CLOCK_SKEW, end - nowSeconds, CLOCK_SKEW)
  const outside = signatures.filter(
    ({ timestamp }) => timestamp < start - CLOCK_SKEW || timestamp > nowSeconds + CLOCK_SKEW,
  ).length
  checks.warn('signature-time', outside === 0, outside, 0)
}

function safely(read: () => number | undefined): number | undefined {
  try {
    const value = read()
    return value !== undefined && Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}
