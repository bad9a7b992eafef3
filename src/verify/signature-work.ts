import type { KeyObject } from 'node:crypto'
import { spendWork } from '../base/work.ts'

/*
 * All figures are units of work of 0.8 µs, as OpenSSL needs them on the machine of the benchmarks, rounded up. Keys on NIST
 * curves take as long to read as to use, because reading checks that the point has the order of the curve.
 */
interface KeyWork {
  readonly verify: number
  readonly read: number
}

/** The most costly kind of key, for kinds without a figure. */
const SLOWEST_KEY: KeyWork = { verify: 2000, read: 1300 }
/** By type of key or name of the curve. RSA is that of the longest modulus and exponent that are accepted. */
const KEY_WORK: Readonly<Record<string, KeyWork>> = {
  rsa: { verify: 220, read: 20 },
  ed25519: { verify: 160, read: 20 },
  prime256v1: { verify: 150, read: 100 },
  secp384r1: { verify: 1000, read: 600 },
  secp521r1: SLOWEST_KEY,
}
/**
 * Units of work of recovering one secp256k1 key, by libsecp256k1 as WebAssembly. The native library takes a quarter of that, but
 * the count must not depend on the machine.
 */
const RECOVERY_WORK = 150
/** Units of work of reading one certificate, with any key. */
const CERTIFICATE_WORK = 300
/** Bytes of a message that SHA-512 hashes, for an Ed25519 signature, in one unit of work. */
const BYTES_PER_UNIT = 512

function workOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): KeyWork {
  return KEY_WORK[asymmetricKeyDetails?.namedCurve ?? asymmetricKeyType ?? ''] ?? SLOWEST_KEY
}

/**
 * Counts the work of one signature that a key verifies.
 *
 * @throws {WorkLimitError} when the request exceeds its limit of work
 */
export function spendOnVerification(key: KeyObject): void {
  spendWork(workOf(key).verify)
}

/** Counts the work of one Ed25519 signature over a message. */
export function spendOnEd25519(message: Uint8Array): void {
  spendWork(KEY_WORK['ed25519']!.verify + Math.floor(message.length / BYTES_PER_UNIT))
}

/** Counts the work of recovering the key of one secp256k1 signature. */
export function spendOnRecovery(): void {
  spendWork(RECOVERY_WORK)
}

/** Counts the work of reading one certificate. */
export function spendOnCertificate(): void {
  spendWork(CERTIFICATE_WORK)
}

/** Counts the work of reading one public key. */
export function spendOnKey(key: KeyObject): void {
  spendWork(workOf(key).read)
}
