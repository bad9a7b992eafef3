import type { EvidenceCheck, LocationStamp, SubjectIdentifier } from '../types/generated.ts'
import type { DeviceTrust, DidKeys, Evaluation } from '../wire/compute-messages.ts'
import type { Signals } from './signals.ts'
import type { SignatureEngine } from './signatures.ts'

/** The operator's settings for evidence. */
export interface VerifyConfig {
  /** Enables the `mock` plugin, which proves nothing. Off in production unless the operator enables it. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of trusted latency witnesses: 0x and lower-case hex. When absent, every witness is accepted. */
  readonly witnesses?: readonly string[]
  /** Plugins that the operator adds to those of `plugin-table.ts`. None when absent. */
  readonly plugins?: readonly VerifyPlugin[]
  /** Which devices and apps are trusted. When absent, only the pinned roots of their makers are. */
  readonly device?: DeviceTrust
  /** Keys of `did:web` signers. When absent, their signatures do not verify. */
  readonly didKeys?: DidKeys
  /** What responses report about where and how proofs are evaluated. When absent, this program's real values. */
  readonly evaluation?: Evaluation
}

/** A position, in degrees. */
export interface Coordinates {
  readonly lon: number
  readonly lat: number
}

/** Everything that a plugin may look at; its rules are pure functions of it. */
export interface PluginContext {
  readonly stamp: LocationStamp
  readonly signals: Signals
  /** The observed position; undefined when the location is not a Point. */
  readonly point: Coordinates | undefined
  /** The time of the verification, Unix seconds. */
  readonly nowSeconds: number
  readonly config: VerifyConfig
  readonly crypto: SignatureEngine
  /** The subject of the claim; undefined when a stamp is verified without a claim. */
  readonly subject: SubjectIdentifier | undefined
  /** The file that the stamp names, when the client sent it. No signature covers it. */
  readonly media: Uint8Array | undefined
  /** Returns the ellipsoidal distance between two positions, metres. */
  distanceMeters(a: Coordinates, b: Coordinates): number
  /** Returns the distance from a position to the nearest point of the stamp's location, metres. */
  distanceFrom(position: Coordinates): number
}

/** What a plugin adds to the details of a stamp. */
export type PluginFacts = Readonly<Record<string, unknown>>

/**
 * The rules for one kind of stamp: a row of `plugin-table.ts`, or the default export of a module that the operator
 * names.
 *
 * The rules are pure: the same context gives the same checks and facts. They use no clock, environment or network.
 */
export interface VerifyPlugin {
  readonly name: string
  /** Semver. */
  readonly version: string
  readonly environments: readonly string[]
  readonly description: string
  /** True when this kind of evidence can only observe a Point. */
  readonly pointOnly: boolean
  /** Returns the accuracy that the signals declare, metres. */
  accuracyMeters(signals: Signals): number | undefined
  /** Returns the cap on the declared accuracy, metres. A larger declared accuracy is reduced to it. */
  maxAccuracyMeters(signals: Signals): number
  /**
   * Adds the plugin's own checks and returns facts for the stamp's details (plain JSON, nothing private).
   *
   * May throw, reject or take longer than `PLUGIN_TIMEOUT_MS`. Then the stamp is inconsistent, and the request still
   * succeeds.
   */
  check(context: PluginContext, checks: CheckCollector): PluginFacts | Promise<PluginFacts>
}

/** The part of `Checks` that plugins can use. */
export type CheckCollector = Pick<Checks, 'fail' | 'warn' | 'info'>

/** The longest wait for a plugin's promise. A plugin that blocks its thread is ended together with the thread. */
export const PLUGIN_TIMEOUT_MS = 250

/** How far the clock of a device may be ahead of ours, or differ between the parts of one stamp. */
export const CLOCK_SKEW_SECONDS = 300

export type Severity = EvidenceCheck['severity']
export type Measured = EvidenceCheck['measured']

/** Collects the checks of a stamp. Each shows what was measured and the limit. */
export class Checks {
  readonly list: EvidenceCheck[] = []

  /** Adds a check whose violation makes the signals inconsistent. Returns `ok`. */
  fail(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('fail', id, ok, measured, limit)
  }

  /** Adds a check whose violation is unusual but proves nothing. Returns `ok`. */
  warn(id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    return this.#add('warn', id, ok, measured, limit)
  }

  /** Adds information that does not affect any verdict. */
  info(id: string, measured: Measured, limit: Measured = null): void {
    this.#add('info', id, true, measured, limit)
  }

  /** True unless a check of severity `fail` failed. */
  get passed(): boolean {
    return this.list.every(({ ok, severity }) => ok || severity !== 'fail')
  }

  #add(severity: Severity, id: string, ok: boolean, measured: Measured, limit: Measured): boolean {
    this.list.push({ id, ok, severity, measured: printable(measured), limit: printable(limit) })
    return ok
  }
}

/** Integers below this have at most twelve digits and need no rounding. */
const MAX_EXACT = 1e12
const SHORT_ASCII = /^[ -~]{0,120}$/

/** Rounds numbers to twelve digits, turns infinite ones into null, and shortens long text. */
function printable(measured: Measured): Measured {
  if (typeof measured === 'number') {
    if (Number.isInteger(measured) && Math.abs(measured) < MAX_EXACT) return measured + 0 // −0 is 0
    return Number.isFinite(measured) ? Number(measured.toPrecision(12)) : null
  }
  if (typeof measured !== 'string' || SHORT_ASCII.test(measured)) return measured
  // Replace lone surrogates, from the cut or from the client: not every JSON parser accepts them.
  const text = measured.length > 120 ? `${measured.slice(0, 120)}…` : measured
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}

/** The difference in degrees at which two notations still mean one position: 0.11 m on the equator. */
const SAME_DEGREES = 1e-6

/**
 * Checks that the signals name the position of the stamp. Longitudes are compared modulo 360°.
 *
 * @param isRequired whether a missing position fails the check too
 */
export function checkSamePosition(
  checks: CheckCollector,
  id: string,
  point: Coordinates | undefined,
  lat: number | undefined,
  lon: number | undefined,
  isRequired = false,
): void {
  if (point === undefined) return
  if (lat === undefined || lon === undefined) {
    const hasOnlyOne = lat !== lon // at least one of them is undefined
    if (isRequired || hasOnlyOne) checks.fail(id, false, null, SAME_DEGREES)
    return
  }
  const lonDifference = Math.abs(lon - point.lon) % 360
  const differenceDegrees = Math.max(Math.abs(lat - point.lat), Math.min(lonDifference, 360 - lonDifference))
  checks.fail(id, differenceDegrees <= SAME_DEGREES * (1 + 1e-9), differenceDegrees, SAME_DEGREES)
}
