import type { KeyObject } from 'node:crypto'
import { spendWork } from '../base/work.ts'

/** Units of work of one verification, by type of key or name of the curve, at the pace of OpenSSL. */
const KEY_WORK: Readonly<Record<string, number>> = {
  rsa: 150,
  ed25519: 150,
  prime256v1: 150,
  secp384r1: 1000,
  secp521r1: 1500,
}
/** Units of work of recovering one secp256k1 key, by the native backend. */
const RECOVERY_WORK = 60
/** Units of work of reading one certificate or key. */
const READING_WORK = 100

/**
 * Counts the work of one signature that a key verifies.
 *
 * @throws {WorkLimitError} when the request may not spend more work
 */
export function spendOnVerification({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): void {
  const name = asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? ''
  spendWork(KEY_WORK[name] ?? KEY_WORK['secp521r1']!)
}

/** Counts the work of one Ed25519 signature over a message. */
export function spendOnEd25519(): void {
  spendWork(KEY_WORK['ed25519']!)
}

/** Counts the work of recovering the key of one secp256k1 signature. */
export function spendOnRecovery(): void {
  spendWork(RECOVERY_WORK)
}

/** Counts the work of reading one certificate or key. */
export function spendOnReading(): void {
  spendWork(READING_WORK)
}
