import type { DidKeys, Evaluation } from '../evidence-messages.ts'
import type { DeviceTrust } from '../messages.ts'
import type { LocationStamp, SubjectIdentifier } from '../types/generated.ts'
import type { Checks } from './checks.ts'
import type { Signals } from './signals.ts'
import type { SignatureEngine } from './signatures.ts'

/** What an operator decides about evidence. */
export interface VerifyConfig {
  /** The `mock` plugin signs for no observation: off in production unless asked for. */
  readonly allowMock: boolean
  /** Addresses and Ed25519 keys of latency witnesses that the operator believes: 0x and lower case. Anybody's when absent. */
  readonly witnesses?: readonly string[]
  /** Kinds of evidence that the operator adds to those of `plugin-table.ts`. None when absent. */
  readonly plugins?: readonly VerifyPlugin[]
  /** Which devices and apps count; the pinned roots of their makers alone when absent. */
  readonly device?: DeviceTrust
  /** Keys of signers by `did:web`; their signatures count for nothing when absent. */
  readonly didKeys?: DidKeys
  /** What answers say of where and how proofs are evaluated; this program's own values when absent. */
  readonly evaluation?: Evaluation
}

/** A position of a Point, degrees. */
export interface Coordinates {
  readonly lon: number
  readonly lat: number
}

/** What a plugin may look at; its rules are pure functions of it. */
export interface PluginContext {
  readonly stamp: LocationStamp
  readonly signals: Signals
  /** The observed position; undefined when the location is no Point. */
  readonly point: Coordinates | undefined
  /** Unix seconds. */
  readonly nowSeconds: number
  readonly config: VerifyConfig
  readonly crypto: SignatureEngine
  /** Of the claim; absent when a stamp is verified alone. */
  readonly subject: SubjectIdentifier | undefined
  /** The file that the stamp names, where somebody sent it; no signature covers it. */
  readonly media: Uint8Array | undefined
  /** Ellipsoidal distance of two positions, metres. */
  distanceMeters(a: Coordinates, b: Coordinates): number
  /** From a position to the nearest place of the stamp's location, metres. */
  distanceFrom(position: Coordinates): number
}

/** What a plugin adds to the details of a stamp. */
export type PluginFacts = Readonly<Record<string, unknown>>

/**
 * One kind of evidence: a row of `plugin-table.ts`, or the default export of a module that the operator names.
 *
 * Its rules are pure: the same context gives the same checks and facts, without clock, environment or network.
 */
export interface VerifyPlugin {
  readonly name: string
  /** Semver. */
  readonly version: string
  readonly environments: readonly string[]
  readonly description: string
  /** True when it can only observe a position. */
  readonly pointOnly: boolean
  /** The self-declared accuracy, metres. */
  accuracyMeters(signals: Signals): number | undefined
  /** Beyond this its accuracy is not believed, metres. */
  maxAccuracyMeters(signals: Signals): number
  /**
   * Adds the plugin's own checks and returns facts for the stamp's details (plain JSON, nothing private).
   *
   * May throw, reject or take longer than `PLUGIN_TIMEOUT_MS`: then the stamp is inconsistent, not the answer an error.
   */
  check(context: PluginContext, checks: CheckCollector): PluginFacts | Promise<PluginFacts>
}

/** The part of `Checks` that a plugin is given. */
export type CheckCollector = Pick<Checks, 'fail' | 'warn' | 'info'>

/** Longest a plugin's promise is waited for. One that blocks the thread instead is ended with its thread. */
export const PLUGIN_TIMEOUT_MS = 250
