import type { VerifyPlugin } from '../plugin.ts'
import { printable, readNumber, readSignal } from '../signals.ts'
import { checkSamePlace } from './same-place.ts'

/** Evidence for development that proves nothing: the signature is real, the observation is made up. */
export const mock: VerifyPlugin = {
  name: 'mock',
  version: '0.1.0',
  environments: ['server', 'node', 'mobile'],
  description: 'Made-up observations for development; proves nothing',
  pointOnly: false,
  accuracyMeters: (signals) => readNumber(signals, 'accuracy'),
  maxAccuracyMeters: () => 1_000_000,
  check({ signals, point }, checks) {
    const provider = readSignal(signals, 'provider')
    if (provider !== undefined) checks.fail('provider', provider === 'mock', printable(provider), 'mock')
    checkSamePlace(checks, 'signals-location', point, readNumber(signals, 'latitude'), readNumber(signals, 'longitude'))
    return { mock: true }
  },
}
