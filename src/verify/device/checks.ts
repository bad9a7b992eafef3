import type { DeviceTrust } from '../../wire/compute-messages.ts'
import type { CheckCollector, PluginContext, PluginFacts } from '../plugin.ts'
import { type AppAttestFacts, checkAppAttest } from './app-attest.ts'
import { checkKeyAttestation, type KeyAttestationFacts } from './key-attestation.ts'
import { checkPgp, type PgpFacts } from './pgp.ts'
import { NO_DEVICE_TRUST } from './trust.ts'

/** What devices vouch for, by mechanism. A member is absent when the stamp has no such attestation that verifies. */
export interface DeviceFacts extends PluginFacts {
  readonly keyAttestation?: KeyAttestationFacts
  readonly appAttest?: AppAttestFacts
  readonly pgp?: PgpFacts
}

/**
 * Checks every mechanism by which a device vouches for a stamp. None is required, but each that is present must verify.
 *
 * @param trust the operator's settings; by default only the pinned roots are trusted
 */
export function checkDevice(
  context: PluginContext,
  checks: CheckCollector,
  trust: DeviceTrust = NO_DEVICE_TRUST,
): DeviceFacts {
  const keyAttestation = checkKeyAttestation(context, trust, checks)
  const appAttest = checkAppAttest(context, trust, checks)
  const pgp = checkPgp(context, trust, checks)
  return {
    ...(keyAttestation && { keyAttestation }),
    ...(appAttest && { appAttest }),
    ...(pgp && { pgp }),
  }
}
