import type { DeviceTrust } from '../../messages.ts'
import type { CheckCollector, PluginContext, PluginFacts } from '../plugin.ts'
import { type AppAttestFacts, checkAppAttest } from './app-attest.ts'
import { checkKeyAttestation, type KeyAttestationFacts } from './key-attestation.ts'
import { checkPgp, type PgpFacts } from './pgp.ts'
import { NO_DEVICE_TRUST } from './trust.ts'

/** What a device vouches for, by the means it has; absent where a stamp brings none that verifies. */
export interface DeviceFacts extends PluginFacts {
  readonly keyAttestation?: KeyAttestationFacts
  readonly appAttest?: AppAttestFacts
  readonly pgp?: PgpFacts
}

/**
 * Every means by which a device vouches for a stamp. What is absent is not asked for; what is there must hold.
 *
 * @param trust of the operator; pinned roots alone when absent
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
