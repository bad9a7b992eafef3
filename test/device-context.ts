/** The plugin context that device checks read, for stamps of `test/evidence.ts`. */

import { loadEd25519 } from '../src/crypto/ed25519.ts'
import { createKeccak } from '../src/crypto/keccak.ts'
import { loadSecp256k1 } from '../src/crypto/secp256k1.ts'
import { listCommitments } from '../src/verify/device/attested-message.ts'
import { NO_DEVICE_TRUST } from '../src/verify/device/trust.ts'
import type { PluginContext } from '../src/verify/plugin.ts'
import { Checks } from '../src/verify/plugin.ts'
import { checkDevice } from '../src/verify/plugins/proofmode.ts'
import type { DeviceTrust } from '../src/wire/compute-messages.ts'
import { type Loose, NOW, unsignedStamp } from './evidence.ts'

const keccak = await createKeccak()
const secp256k1 = await loadSecp256k1()
const ed25519 = await loadEd25519()

/** Returns the context of a proofmode stamp with these signals added to its own. */
export function deviceContext(signals: Loose = {}, changes: Loose = {}, media?: Uint8Array): PluginContext {
  const stamp = unsignedStamp('proofmode', { signatures: [], ...changes })
  Object.assign(stamp['signals'], signals)
  // Device checks read only the stamp, its signals, the time and cryptography.
  const crypto = { keccak, secp256k1, ed25519 }
  return { stamp, signals: stamp['signals'], nowSeconds: NOW + 60, crypto, media } as unknown as PluginContext
}

/** Returns the 32 bytes that a device attests for a stamp. */
export function commitment(context: PluginContext, by: 'sha256' | 'keccak256' | 'FileHash' = 'sha256'): Buffer {
  return Buffer.from(listCommitments(context).find((entry) => entry.by === by)!.bytes)
}

/** @returns the facts, and the identifiers of failures and warnings */
export function judgeDevice(context: PluginContext, trust: Partial<DeviceTrust> = {}) {
  const checks = new Checks()
  const facts = checkDevice(context, checks, { ...NO_DEVICE_TRUST, ...trust })
  const broken = (severity: string) => checks.list.filter((c) => !c.ok && c.severity === severity).map(({ id }) => id)
  return { facts, failed: broken('fail'), warned: broken('warn'), list: checks.list }
}
