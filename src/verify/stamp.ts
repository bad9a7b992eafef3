import { WorkLimitError } from '../base/work.ts'
import type { FlatGeometry, GeometryType } from '../geometry/flat.ts'
import { findNotation } from '../geometry/notation.ts'
import type { LocationStamp, StampDetails, SubjectIdentifier } from '../types/generated.ts'
import type { Hex } from '../wire/values.ts'
import type { StampMessages } from './message.ts'
import {
  Checks,
  CLOCK_SKEW_SECONDS,
  type Coordinates,
  PLUGIN_TIMEOUT_MS,
  type PluginContext,
  type PluginFacts,
  type VerifyConfig,
  type VerifyPlugin,
} from './plugin.ts'
import { type SignatureEngine, verifySignatures } from './signatures.ts'

/** Everything that judging evidence needs. It contains no clock, environment or network, so that judging is pure. */
export interface VerifyEngine {
  readonly crypto: SignatureEngine
  readonly config: VerifyConfig
  /** Returns the shortest ellipsoidal distance between two geometries, metres. */
  distanceMeters(a: FlatGeometry, b: FlatGeometry): number
  /** @param lon degrees */
  toPoint(lon: number, lat: number): FlatGeometry
  /** Runs a synchronous computation and counts its work as that of the request. Absent: work has no limit. */
  count?<T>(compute: () => T): T
}

/** A stamp whose shape has been validated. */
export interface ReadStamp {
  /** The stamp as received. */
  readonly stamp: LocationStamp
  readonly plugin: VerifyPlugin
  readonly geometry: FlatGeometry
  /** The messages that its signatures may cover. */
  readonly messages: StampMessages
  /** The file that the stamp names, when the client sent it. */
  readonly media?: Uint8Array | undefined
}

export interface StampVerdict {
  readonly signaturesValid: boolean
  readonly structureValid: boolean
  readonly signalsConsistent: boolean
  readonly details: StampDetails
  /** One string for each key whose signature verified. */
  readonly signers: readonly string[]
  readonly isBoundToSubject: boolean
  /** Returns the digest of the stamp's canonical message; copies of a stamp have equal digests. */
  digest(): Hex
  /** The declared accuracy, metres. */
  readonly accuracyMeters: number | undefined
  /** The declared accuracy, limited to the plugin's maximum, metres. */
  readonly accuracyCapped: number | undefined
  /** The accuracy used as weight, metres: `accuracyCapped`, or the plugin's maximum when none is declared. */
  readonly weightAccuracyMeters: number
}

/**
 * Half the circumference of the Earth: the accuracy assumed when nothing of a declared accuracy is believed (maximum
 * 0).
 */
const HALF_CIRCUMFERENCE_METERS = 20_004_000

/**
 * Judges one stamp: its signatures, its structure and its signals.
 *
 * @param subject of the claim; absent when the stamp is judged without a claim
 * @returns the same verdict for the same stamp, time and configuration
 */
export async function verifyStamp(
  read: ReadStamp,
  nowSeconds: number,
  engine: VerifyEngine,
  subject?: SubjectIdentifier,
): Promise<StampVerdict> {
  const { stamp, plugin, messages } = read
  const { verdicts: signatures, keys } = countWith(engine, () =>
    verifySignatures(stamp.signatures, messages, subject, engine.crypto),
  )
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
    weightAccuracyMeters: cap > 0 ? (accuracyCapped ?? cap) : HALF_CIRCUMFERENCE_METERS,
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
  const isSameMinor = stamp.pluginVersion.startsWith(`${major}.${minor}.`)
  checks.warn('plugin-version', isSameMinor, stamp.pluginVersion, `${major}.${minor}.x`)
  const { toPoint: pointOf, distanceMeters } = engine
  const toPoint = ({ lon, lat }: Coordinates) => pointOf(lon, lat)
  let distanceError: { readonly cause: unknown } | undefined
  const measure = (a: FlatGeometry, b: FlatGeometry) => {
    try {
      return distanceMeters(a, b)
    } catch (cause) {
      distanceError = { cause }
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
    distanceMeters: (a, b) => measure(toPoint(a), toPoint(b)),
    distanceFrom: (position) => measure(toPoint(position), geometry),
  }
  let facts: PluginFacts
  try {
    facts = await withTimeout(countWith(engine, () => plugin.check(context, checks)))
  } catch (error) {
    if (error instanceof WorkLimitError) throw error
    checks.fail('plugin-error', false, (error as Error).message, null)
    facts = { error: 'the plugin could not judge these signals' }
  }
  // A distance that costs too much says nothing about the evidence. Rethrow, so that the request moves to a lane with larger
  // limits or is rejected; also if the plugin caught the error, because its verdict would depend on the lane.
  if (distanceError !== undefined) throw distanceError.cause
  return { checks, facts }
}

function countWith<T>(engine: VerifyEngine, compute: () => T): T {
  return engine.count === undefined ? compute() : engine.count(compute)
}

/** Limits the time of a plugin's promise. Built-in plugins return facts directly and need no timer. */
async function withTimeout(facts: PluginFacts | Promise<PluginFacts>): Promise<PluginFacts> {
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
  if (plugin.name === 'mock') checks.warn('future-footprint', ahead <= CLOCK_SKEW_SECONDS, ahead, CLOCK_SKEW_SECONDS)
  else checks.fail('future-footprint', ahead <= CLOCK_SKEW_SECONDS, ahead, CLOCK_SKEW_SECONDS)
  // Nothing in the future can have been observed; an end far ahead would overlap with claims about the future.
  checks.warn('future-end', end - nowSeconds <= CLOCK_SKEW_SECONDS, end - nowSeconds, CLOCK_SKEW_SECONDS)
  const outsideCount = signatures.filter(
    ({ timestamp }) => timestamp < start - CLOCK_SKEW_SECONDS || timestamp > nowSeconds + CLOCK_SKEW_SECONDS,
  ).length
  checks.warn('signature-time', outsideCount === 0, outsideCount, 0)
}

/** Returns the number from a plugin; undefined when it throws or the number is not finite. */
function safely(read: () => number | undefined): number | undefined {
  try {
    const value = read()
    return value !== undefined && Number.isFinite(value) ? value : undefined
  } catch {
    return undefined
  }
}

const CRS =
  /^(?:https?:\/\/www\.opengis\.net\/def\/crs\/(?:OGC\/(?:1\.3|0)\/CRS84|EPSG\/0\/4326)|urn:ogc:def:crs:(?:OGC:1\.3:CRS84|EPSG::4326)|EPSG:4326|WGS84)$/
const SEMVER = /^\d{1,6}\.\d{1,6}\.\d{1,6}(?:[-+][0-9A-Za-z.+-]{1,40})?$/

/**
 * Checks the form of a stamp, beyond what already makes a request malformed. The location itself has been validated
 * before.
 *
 * Coordinates are always longitude, latitude, as in GeoJSON, whatever reference system the stamp names.
 *
 * @param type of the location, which may have been text
 */
function checkStructure(stamp: LocationStamp, type: GeometryType, plugin: VerifyPlugin): Checks {
  const checks = new Checks()
  const { lpVersion, locationType, srs, temporalFootprint, pluginVersion, signatures } = stamp
  checks.fail('lp-version', lpVersion === '0.2', lpVersion, '0.2')
  checks.fail('plugin-version', SEMVER.test(pluginVersion), pluginVersion, 'semver')
  const expected = `geojson-${type.toLowerCase()}`
  // A location recorded in another notation may be sent as GeoJSON while `locationType` still names that notation.
  const isKnown = locationType.toLowerCase() === expected || findNotation(locationType) !== undefined
  checks.fail('location-type', isKnown, locationType, expected)
  checks.fail('srs', CRS.test(srs), srs, 'CRS84 or EPSG:4326')
  if (plugin.pointOnly) checks.fail('point-location', type === 'Point', type, 'Point')
  const { start, end } = temporalFootprint
  checks.fail('footprint-order', end >= start, end - start, 0)
  checks.fail('footprint-start', start >= 0, start, 0)
  checks.fail('signed', signatures.length > 0, signatures.length, 1)
  return checks
}
